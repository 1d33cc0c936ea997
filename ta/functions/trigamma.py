"""trigamma on NumPy's arrays, in Triton and on balls."""

from typing import Any

import numpy as np

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import divided, polynomial

FAR = 10.0
"""Smaller numbers are moved up to here, at most ten times by 1."""
SERIES = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""(trigamma(x) - 1/x - 1/(2*x^2))*x^3 in powers of 1/x^2, to 5e-17 from 10 on."""


def _real(x: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        y, total = np.asarray(x, dtype=np.float64), np.zeros(np.shape(x))
        for _ in range(10):
            near = y < FAR
            y, total = np.where(near, (y + 1.0, total + 1.0 / (y * y)), (y, total))
        z = 1.0 / y
        series = np.polynomial.polynomial.polyval(z * z, SERIES)
        return np.where(x < 0, np.nan, total + (z + z * z * (0.5 + z * series)))


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _trigamma(x):
    """The series in 1/x from 10 on, where smaller numbers are moved to."""
    y = x
    total = x * 0.0
    for _ in tl.static_range(10):
        near = y < {FAR!r}
        total = tl.where(near, total + {divided("1.0", "(y * y)", wide)}, total)
        y = tl.where(near, y + 1.0, y)
    z = {divided("1.0", "y", wide)}
    found = total + (z + z * z * (0.5 + z * {polynomial("(z * z)", SERIES)}))
    return tl.where(x < 0, float("nan"), tl.where(x == float("inf"), 0.0, found))
'''


FUNCTION = stated(
    __name__,
    real=_real,
    triton_helper=_helper,
    ball=lambda x: type(x)(2).zeta(x) if x > 0 else type(x).nan(),
)
