"""imag on NumPy's arrays, on rational numbers, on balls and on complex balls."""

import numpy as np

from einderive.ta.functions.stated import stated

FUNCTION = stated(
    __name__,
    real=lambda x: np.where(np.isnan(x), np.nan, np.imag(x)),
    exact=lambda x: 0,
    ball=lambda x: 0 * x,
    complex_ball=lambda z: type(z)(z.imag),
)
