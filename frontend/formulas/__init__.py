"""Formulas from named public sources, with the lines of torch that their users write.

`bench.never_slower` measures on them.

The list was made before any tuning.  Formulas may be added, and none may be removed.

Not here: the measurement (`bench.never_slower`).  May be imported by `frontend.bench` alone.
"""

from __future__ import annotations

from einderive.frontend.formulas.array_api import ARRAY_API
from einderive.frontend.formulas.einops import EINOPS
from einderive.frontend.formulas.entry import SIZES, Formula, Plain
from einderive.frontend.formulas.functional import FUNCTIONAL
from einderive.frontend.formulas.functional_windows import WINDOWS
from einderive.frontend.formulas.npbench import NPBENCH
from einderive.frontend.formulas.opt_einsum import OPT_EINSUM

FORMULAS: tuple[Formula, ...] = (
    *ARRAY_API,
    *FUNCTIONAL,
    *WINDOWS,
    *NPBENCH,
    *EINOPS,
    *OPT_EINSUM,
)

__all__ = ["FORMULAS", "SIZES", "Formula", "Plain"]
