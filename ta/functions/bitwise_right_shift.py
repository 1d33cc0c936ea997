"""bitwise_right_shift on NumPy's arrays, on rational numbers and on balls."""

from typing import Any

import numpy as np

from einderive.ta.functions.digits import of_digits
from einderive.ta.functions.stated import stated

MOST = 4096


def _shifted(x: int, y: int) -> int | None:
    return x >> y if 0 <= y <= MOST else None


def _on_floats(x: Any, y: Any) -> Any:
    return np.where(y < 0, np.nan, np.floor(np.ldexp(x * 1.0, -np.minimum(y, MOST))))


FUNCTION = stated(__name__, **of_digits(_shifted, np.right_shift, _on_floats))
