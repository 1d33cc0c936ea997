"""The root y >= 0 of y*y = x.  In float32, Triton's `tl.sqrt` is an approximation."""

import numpy as np

from einderive.ta.functions.data import Function, Interval

FUNCTION = Function(
    "sqrt",
    np.sqrt,
    at_zero=0,
    domain=Interval(0, included=True),
    latex=r"\sqrt{{{0}}}",
    triton_float32="tl.sqrt_rn({0})",
    ball=lambda x: x.sqrt(),
    derivative=("rsqrt(x)/2",),
)
