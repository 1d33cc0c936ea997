"""log1p in Triton."""

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import divided, polynomial


def _helper(wide: bool) -> str:
    """log(1 + x) = 2 artanh(s) = 2*s + 2*s^3/3 + 2*s^5/5 + ... for s = x/(2 + x)."""
    series = polynomial("z", [2 / (2 * n + 1) for n in range(11 if wide else 6)])
    return f'''@triton.jit
def _log1p(x):
    """log(1 + x); near 0 as 2 artanh(x / (2 + x)), where the sum would lose digits."""
    s = {divided("x", "2.0 + x", wide)}
    z = s * s
    series = s * {series}
    return tl.where(tl.abs(x) < 0.25, series, tl.log(1.0 + x))
'''


FUNCTION = stated(__name__, triton_helper=_helper)
