"""asinh in Triton."""

from einderive.ta.functions.data import divided, root
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _asinh(x):
    """For x >= 0, log(1 + x + x^2/(1 + sqrt(x^2 + 1))); for large x, log(2x), without x^2."""
    size = tl.abs(x)
    near = tl.minimum(size, 1e9)
    square = near * near
    value = _log1p(near + {divided("square", "1.0 + " + root("square + 1.0", wide), wide)})
    value = tl.where(size < 1e9, value, tl.log(size) + 0.6931471805599453)
    return tl.where(x < 0, -value, value)
'''


FUNCTION = stated(__name__, triton_helper=_helper)
