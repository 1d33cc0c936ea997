"""The natural logarithm: log(exp(x)) = x."""

import numpy as np

from einderive.ta.functions.data import Function, Interval

FUNCTION = Function(
    "log",
    np.log,
    latex=r"\log",
    domain=Interval(0),
    turns=(1.0,),
    ball=lambda x: x.log(),
    derivative=("1/x",),
)
