"""erfc on NumPy's arrays and in Triton."""

import math

import numpy as np

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)["coefficients"]

NARROW: tuple[float, ...] = DATA["narrow"]
"""exp(x^2)*erfc(x)/t = c0 + c1*u + c2*u^2 + ... for x >= 0, t = 2/(2 + x) and u = 2*t - 1, by
interpolation in the zeros of a Chebyshev polynomial; to 2e-8."""
WIDE: tuple[float, ...] = DATA["wide"]
"""The same coefficients, to 2e-17."""


def _helper(wide: bool) -> str:
    series = polynomial("u", WIDE if wide else NARROW)
    return f'''@triton.jit
def _erfc(x):
    """exp(-x^2) is exp(-a^2) * exp(-(x - a)*(x + a)) with an a of so few digits that a^2 has no
    rounding."""
    size = tl.where(tl.abs(x) > 40.0, 40.0, tl.abs(x))
    a = 0.0625 * tl.floor(16.0 * size)
    t = 2.0 / (2.0 + size)
    u = 2.0 * t - 1.0
    value = _exp(-a * a) * _exp(-(size - a) * (size + a)) * t * {series}
    return tl.where(x < 0, 2.0 - value, value)
'''


FUNCTION = stated(
    __name__, real=np.vectorize(math.erfc, otypes=[np.float64]), triton_helper=_helper
)
