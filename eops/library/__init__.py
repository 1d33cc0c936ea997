"""The known operators, the specific ones first: what is handed to the search.

Not here: kernels for stages that no operator matches (`torch_views`, `triton_kernels`).
May be imported by `frontend`.
"""

from __future__ import annotations

from einderive.eops.library.attention import ATTENTION
from einderive.eops.library.concat import CONCAT
from einderive.eops.library.conv import CONVOLUTIONS
from einderive.eops.library.conv_transpose import TRANSPOSED_CONVOLUTIONS
from einderive.eops.library.elementwise import ELEMENTWISE
from einderive.eops.library.matmul import MATMUL
from einderive.eops.library.pad_slice import PAD_SLICE
from einderive.eops.library.pool import AVERAGE_POOLS, MAXIMUM_POOLS
from einderive.eops.library.reduction import REDUCTION
from einderive.eops.library.repaired import REPAIRED
from einderive.eops.library.softmax import SOFTMAX
from einderive.eops.library.view import VIEW
from einderive.ta.ir.operator import Operator

OPERATORS: tuple[Operator, ...] = (
    VIEW,
    PAD_SLICE,
    CONCAT,
    ATTENTION,
    SOFTMAX,
    *TRANSPOSED_CONVOLUTIONS,
    *CONVOLUTIONS,
    MATMUL,
    *MAXIMUM_POOLS,
    *AVERAGE_POOLS,
    REPAIRED,
    REDUCTION,
    ELEMENTWISE,
)


def by_name(name: str) -> Operator:
    """The operator of that name; raises KeyError, naming those there are, for any other."""
    for operator in OPERATORS:
        if operator.name == name:
            return operator
    known = ", ".join(operator.name for operator in OPERATORS)
    raise KeyError(f"no known operator {name!r}; there are {known}")
