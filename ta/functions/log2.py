"""The logarithm to base 2: log2(exp2(x)) = x."""

import numpy as np

from einderive.ta.functions.data import Function, Interval

FUNCTION = Function(
    "log2",
    np.log2,
    latex=r"\log_2",
    definition="log(x)/log(2)",
    domain=Interval(0),
    turns=(1.0,),
    ball=lambda x: x.log() / type(x)(2).log(),
    derivative=("1/(x*log(2))",),
)
