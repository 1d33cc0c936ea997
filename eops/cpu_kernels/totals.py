"""How totals are put together, as text."""

from __future__ import annotations

from typing import Final

from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.loops.bodies import Reduction
from einderive.eops.loops.narrow import NARROW
from einderive.ta.functions import REDUCERS

COMBINED: Final = {
    "sum": "{0} + {1}",
    "prod": "{0} * {1}",
    "max": "maximum_{2}({0}, {1})",
    "min": "minimum_{2}({0}, {1})",
}
"""Of two values of a type, in the order of the loops."""
IN_ANY_ORDER: Final = {"sum": "sum_in_any_order", "prod": "product_in_any_order"}


def of_two(made: Reduction, total: str, other: str) -> str:
    """The total of two parts."""
    found = COMBINED[made.reducer].format(total, other, made.kind)
    return f"{made.kind}({found})" if made.kind == NARROW else found  # numba's is int64


def identity(made: Reduction) -> str:
    """What a total begins with."""
    return Numbers().value(REDUCERS[made.reducer].identity, made.kind)
