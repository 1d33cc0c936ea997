"""log(1 + x), without the rounding of 1 + x."""

import numpy as np

from einderive.ta.functions.data import Function, Interval, divided, polynomial


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


FUNCTION = Function(
    "log1p",
    np.log1p,
    triton="_log1p({0})",
    definition="log(1+x)",
    at_zero=0,
    domain=Interval(-1),
    triton_helper=_helper,
    ball=lambda x: x.log1p(),
    derivative=("1/(1+x)",),
)
