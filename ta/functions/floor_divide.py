"""The floor of x/y, without the rounding of x/y, as Python's `//`."""

import operator

import numpy as np

from einderive.ta.functions.data import Function, divided, rational


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _floor_divide(x, y, r):
    """(x - r)/y, which is whole but for its rounding; r is what is left with the sign of x."""
    q = {divided("x - r", "y", wide)}
    q = tl.where((r != 0) & ((r < 0) != (y < 0)), q - 1.0, q)
    low = tl.floor(q)
    q = tl.where(q - low > 0.5, low + 1.0, low)
    return tl.where(y == 0, x / y, q)
'''


FUNCTION = Function(
    "floor_divide",
    np.floor_divide,
    arity=2,
    triton="_floor_divide({0}, {1}, _fmod({0}, {1}))",
    latex=r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor",
    torch_stage="torch.floor_divide({0}, {1} if {1}.is_floating_point() else {1} + ({1} == 0))",
    triton_whole="({0} - _remainder({0} % _divisor({1}), {1})) // _divisor({1})",
    triton_helper=_helper,
    triton_needs=("fmod", "remainder"),
    definition="floor(x/y)",
    divides=True,
    exact=rational(operator.floordiv),
    whole=True,
    ball=lambda x, y: (x / y).floor(),
    derivative=("0", "0"),
)
