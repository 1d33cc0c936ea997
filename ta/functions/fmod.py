"""x - y*trunc(x/y) without rounding: the remainder with the sign of x, as in C."""

import math
from typing import Any

import numpy as np

from einderive.ta.functions import trunc
from einderive.ta.functions.data import Function, divided, rational


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


FUNCTION = Function(
    "fmod",
    np.fmod,
    arity=2,
    triton="_fmod({0}, {1})",
    triton_helper=_helper,
    torch_stage="torch.fmod({0}, {1} if {1}.is_floating_point() else {1} + ({1} == 0))",
    triton_whole="{0} % _divisor({1})",
    definition="x-y*trunc(x/y)",
    divides=True,
    exact=rational(lambda x, y: x - y * math.trunc(x / y)),
    whole=True,
    ball=_ball,
    derivative=("1", "-trunc(x/y)"),
)
