"""The logarithm to base 10."""

import math

import numpy as np

from einderive.ta.functions.data import Function, Interval

FUNCTION = Function(
    "log10",
    np.log10,
    latex=r"\log_{10}",
    definition="log(x)/log(10)",
    triton=f"tl.log({{0}}) * {1 / math.log(10)!r}",
    domain=Interval(0),
    turns=(1.0,),
    ball=lambda x: x.log() / type(x)(10).log(),
    derivative=("1/(x*log(10))",),
)
