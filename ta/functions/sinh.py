"""sinh in Triton."""

from einderive.ta.functions.data import divided
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _sinh(x):
    """Near 0 by d = exp(|x|) - 1, where the difference would cancel; elsewhere by exp(|x|/2),
    which overflows for no x at which the result does not."""
    size = tl.abs(x)
    d = _expm1(tl.minimum(size, 2.0))
    root = _exp(0.5 * size)
    large = 0.5 * root * root - 0.5 / root / root
    value = tl.where(size < 1.0, 0.5 * (d + {divided("d", "1.0 + d", wide)}), large)
    return tl.where(x < 0, -value, value)
'''


FUNCTION = stated(__name__, triton_helper=_helper)
