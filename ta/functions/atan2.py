"""atan2 in Triton and on balls."""

from einderive.ta.functions.data import divided
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _atan2(y, x):
    """The angle in the first octant, by the quotient of the lesser and the greater size, and its
    reflections."""
    high = tl.abs(y) > tl.abs(x)
    lesser = tl.where(high, tl.abs(x), tl.abs(y))
    greater = tl.where(high, tl.abs(y), tl.abs(x))
    t = tl.where(lesser == greater, 1.0, {divided("lesser", "greater", wide)})
    value = _atan(tl.where(greater == 0, 0.0, t))
    value = tl.where(high, 1.5707963267948966 - value, value)
    value = tl.where(x < 0, 3.141592653589793 - value, value)
    value = tl.where(y < 0, -value, value)
    return tl.where((x != x) | (y != y), x + y, value)
'''


FUNCTION = stated(__name__, triton_helper=_helper, ball=lambda y, x: type(y).atan2(y, x))
