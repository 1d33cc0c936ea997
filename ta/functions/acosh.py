"""acosh in Triton."""

from einderive.ta.functions.data import root
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _acosh(x):
    """log(1 + d + sqrt(d*(2 + d))) for d = x - 1; for large x, log(2x), without d^2."""
    d = tl.where(x < 1.0, float("nan"), tl.where(x < 1e9, x - 1.0, 1.0))
    near = _log1p(d + {root("d * (2.0 + d)", wide)})
    return tl.where(x >= 1e9, tl.log(x) + 0.6931471805599453, tl.where(x == x, near, x))
'''


FUNCTION = stated(__name__, triton_helper=_helper)
