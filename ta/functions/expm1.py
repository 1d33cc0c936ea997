"""e^x - 1, without the cancellation near 0."""

from math import factorial

import numpy as np

from einderive.ta.functions.data import Function, polynomial


def _helper(wide: bool) -> str:
    """exp(x) - 1 = x + x^2/2! + x^3/3! + ..."""
    series = polynomial("x", [1 / factorial(n) for n in range(1, 16 if wide else 10)])
    return f'''@triton.jit
def _expm1(x):
    """exp(x) - 1; near 0 by its Taylor series, where the difference would cancel."""
    series = x * {series}
    return tl.where(tl.abs(x) < 0.5, series, _exp(x) - 1.0)
'''


FUNCTION = Function(
    "expm1",
    np.expm1,
    triton="_expm1({0})",
    triton_needs=("exp",),
    definition="exp(x)-1",
    at_zero=0,
    triton_helper=_helper,
    ball=lambda x: x.expm1(),
    derivative=("exp(x)",),
)
