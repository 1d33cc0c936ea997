"""x where that is a number, 0 where it is infinite or NaN."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "finite",
    lambda x: np.where(np.isfinite(x), x, 0.0),
    torch="torch.nan_to_num({0}, nan=0.0, posinf=0.0, neginf=0.0)",
    triton='tl.where(tl.abs({0}) < float("inf"), {0}, {zero})',
    at_zero=0,
    always_finite=True,
    ball=lambda x: x,
    derivative=("isfinite(x)",),
)
