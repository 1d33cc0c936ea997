"""Formulas from named public sources, with the lines of NumPy or torch that their users write.

`bench.never_slower` measures on them, and the page `formulas` of the docs shows them by field.

The lists were made before any tuning.  Formulas may be added, and none may be removed.

Not here: the measurement (`bench.never_slower`).
May be imported by `frontend.bench`, `frontend.stages` and `tools`.
"""

from __future__ import annotations

from einderive.frontend.formulas.entry import SIZES, Formula, Plain
from einderive.frontend.formulas.written import listed

SOURCES = ("array_api", "functional", "functional_windows", "npbench", "einops", "opt_einsum")
FORMULAS: tuple[Formula, ...] = tuple(formula for file in SOURCES for formula in listed(file))

FIELDS: dict[str, tuple[Formula, ...]] = {
    "Statistics": listed("statistics"),
    "Arrays": listed("arrays"),
    "Signals": listed("signals"),
    "Images": listed("imaging"),
    "Physics": listed("physics"),
    "Finance": listed("finance"),
    "Machine learning": listed("learning"),
    "Neural networks": listed("networks"),
    "Training": listed("training"),
    "Graphs and tables": listed("graphs"),
    "Kernels": listed("kernels"),
}
"""Formulas as users would first write them, with all of the notation."""

__all__ = ["FIELDS", "FORMULAS", "SIZES", "Formula", "Plain"]
