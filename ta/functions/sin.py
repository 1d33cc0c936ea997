"""The sine of an angle in radians."""

import math

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "sin",
    np.sin,
    latex=r"\sin",
    at_zero=0,
    range=(-1, 1),
    turns=(-math.pi, math.pi),
    ball=lambda x: x.sin(),
    derivative=("cos(x)",),
)
