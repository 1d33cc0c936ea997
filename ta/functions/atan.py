"""atan in Triton."""

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import divided, polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)["coefficients"]

NARROW = (-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2)
"""Coefficients of (arctan(r)/r - 1)/r^2 in r^2, for |r| <= tan(pi/8), in float32 (Cephes, S.
Moshier)."""
WIDE: tuple[float, ...] = DATA["wide"]
"""The same coefficients in float64, for |r| <= 7/16 (fdlibm, Sun Microsystems)."""


def _helper(wide: bool) -> str:
    series = polynomial("z", WIDE if wide else NARROW)
    return f'''@triton.jit
def _atan(x):
    """atan(x) = pi/2 - atan(1/x) = pi/4 + atan((x - 1)/(x + 1)), so that a short series does."""
    size = tl.abs(x)
    large = size > 2.414213562373095
    middle = (size > 0.41421356237309503) & (size <= 2.414213562373095)
    above = tl.where(large, -1.0, tl.where(middle, size - 1.0, size))
    below = tl.where(large, size, tl.where(middle, size + 1.0, 1.0))
    r = {divided("above", "below", wide)}
    z = r * r
    value = r + r * (z * {series})
    value = tl.where(middle, value + 0.7853981633974483, value)
    value = tl.where(large, value + 1.5707963267948966, value)
    return tl.where(x < 0, -value, value)
'''


FUNCTION = stated(__name__, triton_helper=_helper)
