"""1 where x is neither NaN nor an infinity, else 0."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "isfinite",
    lambda x: np.isfinite(x) * 1.0,
    exact=lambda x: not isinstance(x, float),
    truth=True,
    always_finite=True,
    at_zero=1,
    range=(0, 1),
    ball=lambda x: 0 * x + 1,
    triton='tl.where(tl.abs({0}) < float("inf"), {one}, {zero})',
)
