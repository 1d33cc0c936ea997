"""x*2^y, for integers.  There is no value where y < 0."""

from typing import Any

import numpy as np

from einderive.ta.functions.data import Function, of_digits, of_whole_balls, of_whole_floats

MOST = 4096


def _shifted(x: int, y: int) -> int | None:
    return x << y if 0 <= y <= MOST else None


def _on_floats(x: Any, y: Any) -> Any:
    return np.where(y < 0, np.nan, np.ldexp(x * 1.0, np.minimum(y, MOST)))


FUNCTION = Function(
    "bitwise_left_shift",
    of_whole_floats(_on_floats, np.left_shift),
    arity=2,
    exact=(exact := of_digits(_shifted)),
    ball=of_whole_balls(exact),
    digits=True,
    whole=True,
    partial=True,
    latex=r"{0} \ll {1}",
    torch_stage="torch.bitwise_left_shift({0}.long(), {1}.long())",
    triton="tl.where({1} > 63, 0, {0} << tl.minimum({1}, 63))",
)
