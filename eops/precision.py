"""To how many digits kernels compute functions.

wide      float64
narrow    float32
short     five digits: where all is read from half types and rounded to them
"""

from __future__ import annotations

from functools import lru_cache

from einderive.eops.dtypes import HALVES
from einderive.ta.facts.jumps import jumps_on_rounding
from einderive.ta.functions.helper import Precision
from einderive.ta.ir.node import Node, Scope, Source


@lru_cache(maxsize=1024)
def precision_of(
    compute: str,
    dtypes: frozenset[str],
    stages: tuple[Scope, ...],
    after: tuple[Node, Source] | None = None,
) -> Precision:
    """What functions are computed to where the stages compute in this type, and read and write
    these.

    Where only half types are read and written, the operations of the formula are those of half
    types: each rounds to 11 bits or fewer, and functions to five digits are exact beside that.  At
    a jump all digits count."""
    if compute == "float64":
        return "wide"
    return "short" if dtypes <= HALVES and not jumps_on_rounding(stages, after) else "narrow"
