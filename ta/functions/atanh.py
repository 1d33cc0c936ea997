"""atanh in Triton."""

from einderive.ta.functions.data import divided
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _atanh(x):
    """For x >= 0, log(1 + 2x/(1 - x))/2."""
    size = tl.abs(x)
    value = 0.5 * _log1p({divided("2.0 * size", "1.0 - size", wide)})
    return tl.where(x < 0, -value, value)
'''


FUNCTION = stated(__name__, triton_helper=_helper)
