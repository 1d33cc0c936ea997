"""The cosine of an angle in radians."""

import math

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "cos",
    np.cos,
    latex=r"\cos",
    at_zero=1,
    range=(-1, 1),
    turns=(-math.pi / 2, math.pi / 2),
    ball=lambda x: x.cos(),
    derivative=("-sin(x)",),
)
