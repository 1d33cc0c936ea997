"""fmod in Triton, on rational numbers and on balls."""

import math
from typing import Any

from einderive.ta.functions import trunc
from einderive.ta.functions.data import divided, rational
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _fmod(x, y):
    """A whole multiple of y is taken off twice, in a fused multiplication that does not round, so
    that the quotient may have twice the digits of the type; it may be off by one."""
    size = tl.abs(y)
    r = tl.abs(x)
    r = tl.fma(-tl.floor({divided("r", "size", wide)}), size, r)
    r = tl.fma(-tl.floor({divided("r", "size", wide)}), size, r)
    r = tl.where(r < 0, r + size, tl.where(r >= size, r - size, r))
    r = tl.where(size == float("inf"), tl.where(tl.abs(x) < float("inf"), tl.abs(x), r), r)
    return tl.where(x < 0, -r, r)


@triton.jit
def _divisor(y):
    """Of integers: a division by 0 would end the program."""
    return tl.where(y == 0, 1, y)
'''


def _ball(x: Any, y: Any) -> Any:
    assert trunc.FUNCTION.ball is not None
    return x - y * trunc.FUNCTION.ball(x / y)


FUNCTION = stated(
    __name__,
    triton_helper=_helper,
    exact=rational(lambda x, y: x - y * math.trunc(x / y)),
    ball=_ball,
)
