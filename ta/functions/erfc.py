"""1 - erf(x), without the cancellation for large x."""

import math

import numpy as np

from einderive.ta.functions.data import Function, polynomial

NARROW = (
    0.5107913570561573,
    0.3435803405315631,
    0.13973572644353033,
    0.01822123701682574,
    -0.010751569274896282,
    -0.003241045923911842,
    0.0015289973226966262,
    0.00042519710672849316,
    -0.00029919966937622496,
    -3.114843706032603e-05,
    4.20878745841014e-05,
    -1.9773342853812134e-06,
)
"""exp(x^2)*erfc(x)/t = c0 + c1*u + c2*u^2 + ... for x >= 0, t = 2/(2 + x) and u = 2*t - 1, by
interpolation in the zeros of a Chebyshev polynomial; to 2e-8."""
WIDE = (
    0.5107913526210115,
    0.3435803422069051,
    0.13973604627802735,
    0.018221115753461418,
    -0.010755330944743213,
    -0.003239592534655014,
    0.001545306029656217,
    0.00041864804431780765,
    -0.000331536754536941,
    -1.7185840159673632e-05,
    7.223539810023321e-05,
    -1.707374027362626e-05,
    -1.0848266170054718e-05,
    8.05774418734809e-06,
    -5.622017389294364e-07,
    -1.8147502308396875e-06,
    9.99681059790912e-07,
    -1.4173148256804559e-08,
    -2.838403336958219e-07,
    1.7908279015125605e-07,
    -3.2879636227603558e-09,
    -6.991599125811103e-08,
    2.999579690914985e-08,
    1.330982841170542e-08,
    -1.0077813696987433e-08,
    -1.0739706490607777e-09,
    1.2565872268596197e-09,
)
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


FUNCTION = Function(
    "erfc",
    np.vectorize(math.erfc, otypes=[np.float64]),
    triton="_erfc({0})",
    triton_needs=("exp",),
    triton_helper=_helper,
    definition="1-erf(x)",
    at_zero=1,
    range=(0, 2),
    ball=lambda x: x.erfc(),
    derivative=("-2/sqrt(pi)*exp(-x^2)",),
)
