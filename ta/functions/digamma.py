"""digamma on NumPy's arrays, in Triton and on balls."""

from typing import Any

import numpy as np

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import divided, polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)["coefficients"]

ROOT = 1.4616321449683622
"""digamma is 0 at ROOT + REST."""
REST = 9.549995429965697e-17
SHORT_ROOT = 1.4616321325302124
"""The root in float32, and the rest of it."""
SHORT_REST = 1.2438149938918909e-08
SLOPE = 0.9955816268920898
ABOVE: tuple[float, ...] = DATA["above"]
BELOW: tuple[float, ...] = DATA["below"]
"""digamma(x) = (x - ROOT - REST)*(SLOPE + p(x-1)/q(x-1)) for 1 <= x <= 2, to 2e-17 (Boost's
Math library, special_functions/digamma.hpp)."""
SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)
"""(log(x) - 1/(2*x) - digamma(x))*x^2 in powers of 1/x^2."""


def _real(x: Any) -> Any:
    polynomials = np.polynomial.polynomial.polyval
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        y, total = np.where(x < 1.0, x + 1.0, x), np.where(x < 1.0, -1.0 / x, 0.0)
        for _ in range(8):
            y, total = np.where(y > 2.0, (y - 1.0, total + 1.0 / (y - 1.0)), (y, total))
        g = (y - ROOT) - REST
        near = total + g * (SLOPE + polynomials(y - 1.0, ABOVE) / polynomials(y - 1.0, BELOW))
        z = 1.0 / x
        far = np.log(x) - (0.5 * z + z * z * polynomials(z * z, SERIES))
        return np.where(x < 0, np.nan, np.where(x < 10.0, near, far))


def _helper(wide: bool) -> str:
    quotient = divided(polynomial("one", ABOVE), polynomial("one", BELOW), wide)
    root, rest = (ROOT, REST) if wide else (SHORT_ROOT, SHORT_REST)
    return f'''@triton.jit
def _digamma(x):
    """By a quotient of polynomials between 1 and 2, where other numbers are moved to; from 10 on by
    the series in 1/x."""
    y = tl.where(x < 1.0, x + 1.0, x)
    total = tl.where(x < 1.0, {divided("-1.0", "x", wide)}, 0.0)
    for _ in tl.static_range(8):
        above = y > 2.0
        y = tl.where(above, y - 1.0, y)
        total = tl.where(above, total + {divided("1.0", "y", wide)}, total)
    one = y - 1.0
    near = total + ((y - {root!r}) - {rest!r}) * ({SLOPE!r} + {quotient})
    z = {divided("1.0", "x", wide)}
    far = tl.log(x) - (0.5 * z + z * z * {polynomial("(z * z)", SERIES)})
    return tl.where(x < 0, float("nan"), tl.where(x < 10.0, near, far))
'''


FUNCTION = stated(
    __name__,
    real=_real,
    triton_helper=_helper,
    ball=lambda x: x.digamma() if x > 0 else type(x).nan(),
)
