"""1 where x is NaN, else 0."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "isnan",
    lambda x: np.isnan(x) * 1.0,
    exact=lambda x: False,
    truth=True,
    always_finite=True,
    at_zero=0,
    range=(0, 1),
    ball=lambda x: 0 * x,
    triton="tl.where({0} != {0}, {one}, {zero})",
)
