"""1 where x is an infinity, else 0."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "isinf",
    lambda x: np.isinf(x) * 1.0,
    exact=lambda x: isinstance(x, float),
    truth=True,
    always_finite=True,
    at_zero=0,
    range=(0, 1),
    ball=lambda x: 0 * x,
    triton='tl.where(tl.abs({0}) == float("inf"), {one}, {zero})',
)
