"""2^x."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "exp2",
    np.exp2,
    definition="exp(x*log(2))",
    at_zero=1,
    ball=lambda x: (x * type(x)(2).log()).exp(),
    derivative=("log(2)*exp2(x)",),
)
