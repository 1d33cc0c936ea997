"""The greater of x and 0."""

import numpy as np

from einderive.ta.functions.data import Function, Pieces

FUNCTION = Function(
    "relu",
    lambda x: np.maximum(x, 0),
    triton="tl.where({0} < 0, {zero}, {0})",
    torch_stage="{0}.relu()",
    definition="maximum(x,0)",
    pieces=Pieces((1,), above=(1,), below=(0,)),
    at_zero=0,
    derivative=("x > 0",),
)
