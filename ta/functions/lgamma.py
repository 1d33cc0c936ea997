"""lgamma on NumPy's arrays, in Triton and on balls."""

from typing import Any

import numpy as np

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)["coefficients"]

ABOUT_ONE: tuple[float, ...] = DATA["about_one"]
"""lgamma(1 + t)/t = c0 + c1*u + c2*u^2 + ... for u = 2*t, |u| <= 1, by interpolation in the zeros
of a Chebyshev polynomial; to 6e-17."""
ABOUT_TWO: tuple[float, ...] = DATA["about_two"]
"""lgamma(2 + t)/t, likewise; to 6e-17."""
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""x*(lgamma(x) - (x - 1/2)*(log(x) - 1) - CONSTANT) in powers of 1/x^2."""
CONSTANT = 0.41893853320467274
"""(log(2*pi) - 1)/2"""


def _real(x: Any) -> Any:
    polynomials = np.polynomial.polynomial.polyval
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        y, product = np.where(x < 0.5, x + 1.0, x), np.ones_like(x)
        for _ in range(6):
            y, product = np.where(y > 2.5, (y - 1.0, product * (y - 1.0)), (y, product))
        one, two = y - 1.0, y - 2.0
        near = np.where(
            y <= 1.5, one * polynomials(2 * one, ABOUT_ONE), two * polynomials(2 * two, ABOUT_TWO)
        )
        near = near + np.where(x < 0.5, -np.log(x), np.log(product))
        series = polynomials(1 / (x * x), STIRLING) / x
        far = (x - 0.5) * (np.log(x) - 1.0) + (CONSTANT + series)
        return np.where(x < 8.0, near, far)


def _helper(wide: bool) -> str:
    one, two = polynomial("(2.0 * one)", ABOUT_ONE), polynomial("(2.0 * two)", ABOUT_TWO)
    return f'''@triton.jit
def _lgamma(x):
    """By polynomials about 1 and 2, which smaller and greater numbers are moved to; from 8 on by
    Stirling's series."""
    y = tl.where(x < 0.5, x + 1.0, x)
    product = y * 0.0 + 1.0
    for _ in tl.static_range(6):
        above = y > 2.5
        y = tl.where(above, y - 1.0, y)
        product = tl.where(above, product * y, product)
    one = y - 1.0
    two = y - 2.0
    near = tl.where(y <= 1.5, one * {one}, two * {two})
    near = near + tl.where(x < 0.5, -tl.log(x), tl.log(product))
    z = 1.0 / x
    far = (x - 0.5) * (tl.log(x) - 1.0) + ({CONSTANT!r} + z * {polynomial("(z * z)", STIRLING)})
    return tl.where(x < 8.0, near, far)
'''


FUNCTION = stated(
    __name__,
    real=_real,
    triton_helper=_helper,
    ball=lambda x: x.lgamma() if x > 0 else type(x).nan(),
)
