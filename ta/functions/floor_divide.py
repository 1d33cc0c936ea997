"""floor_divide in Triton, on rational numbers and on balls."""

import operator

from einderive.ta.functions.data import divided, rational
from einderive.ta.functions.stated import stated


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


FUNCTION = stated(
    __name__,
    triton_helper=_helper,
    exact=rational(operator.floordiv),
    ball=lambda x, y: (x / y).floor(),
)
