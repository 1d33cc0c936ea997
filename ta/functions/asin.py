"""The angle between -pi/2 and pi/2 whose sine is x."""

import numpy as np

from einderive.ta.functions.data import Function, Interval

FUNCTION = Function(
    "asin",
    np.arcsin,
    latex=r"\arcsin",
    triton="_atan({0} / tl.sqrt((1.0 - {0}) * (1.0 + {0})))",
    triton_float32="_atan(tl.div_rn({0}, tl.sqrt_rn((1.0 - {0}) * (1.0 + {0}))))",
    triton_needs=("atan",),
    at_zero=0,
    domain=Interval(-1, 1, included=True),
    ball=lambda x: x.asin(),
    derivative=("rsqrt(1-x^2)",),
)
