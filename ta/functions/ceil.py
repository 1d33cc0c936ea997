"""The least integer that is not below x."""

import math

import numpy as np

from einderive.ta.functions.data import Function, unchanged

FUNCTION = Function(
    "ceil",
    np.ceil,
    exact=unchanged(math.ceil),
    whole=True,
    at_zero=0,
    steps=True,
    turns=(-1.0,),
    latex=r"\left\lceil {0} \right\rceil",
    triton_whole="{0}",
    ball=lambda x: x.ceil(),
    derivative=("0",),
)
