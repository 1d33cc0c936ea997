"""1/sqrt(x)."""

import numpy as np

from einderive.ta.functions.data import Function, Interval

FUNCTION = Function(
    "rsqrt",
    lambda x: 1.0 / np.sqrt(x),
    definition="1/sqrt(x)",
    domain=Interval(0),
    ball=lambda x: x.rsqrt(),
    derivative=("-rsqrt(x)/(2*x)",),
)
