"""silu on NumPy's arrays and on balls."""

from typing import Any

import numpy as np

from einderive.ta.functions.stated import stated


def _real(x: Any) -> Any:
    """exp(-|x|) as a square, so that it is not subnormal where the result is normal."""
    root = np.exp(-0.5 * np.abs(x))
    side = np.where(np.signbit(x), root, 1.0)
    return side * x * (side / (1.0 + root * root))


FUNCTION = stated(__name__, real=_real, ball=lambda x: x / (1 + (-x).exp()))
