"""The floor of x/2^y, for integers.  There is no value where y < 0."""

from typing import Any

import numpy as np

from einderive.ta.functions.digits import of_digits

MOST = 4096


def _shifted(x: int, y: int) -> int | None:
    return x >> y if 0 <= y <= MOST else None


def _on_floats(x: Any, y: Any) -> Any:
    return np.where(y < 0, np.nan, np.floor(np.ldexp(x * 1.0, -np.minimum(y, MOST))))


FUNCTION = of_digits(
    "bitwise_right_shift",
    _shifted,
    np.right_shift,
    _on_floats,
    latex=r"{0} \gg {1}",
    triton="({0} >> tl.minimum({1}, 63))",
)
