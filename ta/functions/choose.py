"""choose on NumPy's arrays, on rational numbers and on balls."""

import numpy as np

from einderive.ta.functions.stated import stated

FUNCTION = stated(
    __name__,
    real=lambda c, x, y: np.where(np.not_equal(c, 0), x, y),
    exact=lambda c, x, y: x if c else y,
    ball=lambda c, x, y: x if c != 0 else y if c.is_zero() else x.union(y),
)
