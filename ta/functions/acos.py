"""The angle between 0 and pi whose cosine is x."""

import numpy as np

from einderive.ta.functions.data import Function, Interval

FUNCTION = Function(
    "acos",
    np.arccos,
    latex=r"\arccos",
    triton="2.0 * _atan(tl.sqrt((1.0 - {0}) / (1.0 + {0})))",
    triton_float32="2.0 * _atan(tl.sqrt_rn(tl.div_rn(1.0 - {0}, 1.0 + {0})))",
    triton_needs=("atan",),
    domain=Interval(-1, 1, included=True),
    ball=lambda x: x.acos(),
    derivative=("-rsqrt(1-x^2)",),
)
