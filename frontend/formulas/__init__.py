"""Formulas from named public sources with their plain lines: what "never slower" is measured on.

The list was made before anything was tuned; add to it, and take nothing out.

Not here: the measurement (`bench.never_slower`).  May be imported by `frontend.bench` alone.
"""

from __future__ import annotations

from frontend.formulas.array_api import ARRAY_API
from frontend.formulas.einops import EINOPS
from frontend.formulas.entry import SIZES, Formula, Plain
from frontend.formulas.functional import FUNCTIONAL
from frontend.formulas.functional_windows import WINDOWS
from frontend.formulas.npbench import NPBENCH
from frontend.formulas.opt_einsum import OPT_EINSUM

FORMULAS: tuple[Formula, ...] = (
    *ARRAY_API,
    *FUNCTIONAL,
    *WINDOWS,
    *NPBENCH,
    *EINOPS,
    *OPT_EINSUM,
)

__all__ = ["FORMULAS", "SIZES", "Formula", "Plain"]
