"""sigmoid on NumPy's arrays and on balls."""

from typing import Any

import numpy as np

from einderive.ta.functions.stated import stated


def _real(x: Any) -> Any:
    """`e/(1+e)` or `1/(1+e)` with e = exp(-|x|): nothing cancels or overflows."""
    small = np.exp(-np.abs(x))
    return np.where(np.signbit(x), small, 1.0) / (1.0 + small)


FUNCTION = stated(__name__, real=_real, ball=lambda x: 1 / (1 + (-x).exp()))
