"""hypot in Triton and on balls."""

from einderive.ta.functions.data import divided, root
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _hypot(x, y):
    """g*sqrt(1 + (l/g)^2) for the lesser size l and the greater g."""
    high = tl.abs(y) > tl.abs(x)
    lesser = tl.where(high, tl.abs(x), tl.abs(y))
    greater = tl.where(high, tl.abs(y), tl.abs(x))
    t = tl.where((x == 0) & (y == 0), 0.0, {divided("lesser", "greater", wide)})
    value = greater * {root("1.0 + t * t", wide)}
    infinite = (tl.abs(x) == float("inf")) | (tl.abs(y) == float("inf"))
    return tl.where(infinite, float("inf"), value)
'''


FUNCTION = stated(__name__, triton_helper=_helper, ball=lambda x, y: (x * x + y * y).sqrt())
