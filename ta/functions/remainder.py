"""remainder in Triton, on rational numbers and on balls."""

import operator

from einderive.ta.functions.data import rational
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _remainder(r, y):
    """From what is left with the sign of x."""
    return tl.where((r != 0) & ((r < 0) != (y < 0)), r + y, r)
'''


FUNCTION = stated(
    __name__,
    triton_helper=_helper,
    exact=rational(operator.mod),
    ball=lambda x, y: x - y * (x / y).floor(),
)
