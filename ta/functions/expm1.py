"""expm1 in Triton."""

from math import factorial

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import polynomial


def _helper(wide: bool) -> str:
    """exp(x) - 1 = x + x^2/2! + x^3/3! + ..."""
    series = polynomial("x", [1 / factorial(n) for n in range(1, 16 if wide else 10)])
    return f'''@triton.jit
def _expm1(x):
    """exp(x) - 1; near 0 by its Taylor series, where the difference would cancel."""
    series = x * {series}
    return tl.where(tl.abs(x) < 0.5, series, _exp(x) - 1.0)
'''


FUNCTION = stated(__name__, triton_helper=_helper)
