"""Formulas from named public sources, with the lines of NumPy or torch that their users write.

`bench.never_slower` measures on them, and the page `formulas` of the docs shows those by field.

The lists were made before any tuning.  Formulas may be added, and none may be removed.

Not here: the measurement (`bench.never_slower`).
May be imported by `frontend.bench`, `frontend.stages` and `tools`.
"""

from __future__ import annotations

from einderive.frontend.formulas.array_api import ARRAY_API
from einderive.frontend.formulas.einops import EINOPS
from einderive.frontend.formulas.entry import SIZES, Formula, Plain
from einderive.frontend.formulas.functional import FUNCTIONAL
from einderive.frontend.formulas.functional_windows import WINDOWS
from einderive.frontend.formulas.npbench import NPBENCH
from einderive.frontend.formulas.opt_einsum import OPT_EINSUM
from einderive.frontend.formulas.written import field

FORMULAS: tuple[Formula, ...] = (*ARRAY_API, *FUNCTIONAL, *WINDOWS, *NPBENCH, *EINOPS, *OPT_EINSUM)

FIELDS: dict[str, tuple[Formula, ...]] = {
    "Statistics": field("statistics"),
    "Arrays": field("arrays"),
    "Signals": field("signals"),
    "Images": field("imaging"),
    "Physics": field("physics"),
    "Finance": field("finance"),
    "Machine learning": field("learning"),
    "Neural networks": field("networks"),
    "Training": field("training"),
    "Graphs and tables": field("graphs"),
    "Kernels": field("kernels"),
}
"""Formulas as users would first write them, with all of the notation."""

__all__ = ["FIELDS", "FORMULAS", "SIZES", "Formula", "Plain"]
