"""x - y*floor(x/y) without rounding: the remainder with the sign of y, as Python's `%`."""

import operator

import numpy as np

from einderive.ta.functions.data import Function, rational


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _remainder(r, y):
    """From what is left with the sign of x."""
    return tl.where((r != 0) & ((r < 0) != (y < 0)), r + y, r)
'''


FUNCTION = Function(
    "remainder",
    np.remainder,
    arity=2,
    latex=r"\operatorname{mod}",
    triton="_remainder(_fmod({0}, {1}), {1})",
    torch_stage="torch.remainder({0}, {1} if {1}.is_floating_point() else {1} + ({1} == 0))",
    triton_whole="_remainder({0} % _divisor({1}), {1})",
    triton_helper=_helper,
    triton_needs=("fmod",),
    definition="x-y*floor(x/y)",
    divides=True,
    exact=rational(operator.mod),
    whole=True,
    ball=lambda x, y: x - y * (x / y).floor(),
    derivative=("1", "-floor(x/y)"),
)
