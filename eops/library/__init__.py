"""The known operators, one operator or one family per file, the specific ones first.

The search receives them as an argument.  A new operator is one new file, which
states its texts itself or has them in `operators.toml`.

Not here: kernels for stages that no operator matches (`torch_views`, `triton_kernels`).
May be imported by `eops.back_ends` and `frontend`.
"""

from __future__ import annotations

from einderive.ta.ir.operator import Operator
from einderive.ta.listing import listed

OPERATORS: tuple[Operator, ...] = listed(
    __name__,
    Operator,
    first="view pad_slice concat attention softmax conv_transpose conv matmul pool",
    last="repaired reduction elementwise",
)


def by_name(name: str) -> Operator:
    """The operator of that name.  For any other name, a KeyError that lists the known names."""
    for operator in OPERATORS:
        if operator.name == name:
            return operator
    known = ", ".join(operator.name for operator in OPERATORS)
    raise KeyError(f"no known operator {name!r}; there are {known}")
