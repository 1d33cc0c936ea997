"""The tangent of an angle in radians: sin(x)/cos(x)."""

import math

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "tan",
    np.tan,
    latex=r"\tan",
    triton="tl.sin({0}) / tl.cos({0})",
    definition="sin(x)/cos(x)",
    at_zero=0,
    turns=(-math.pi, -math.pi / 2, math.pi / 2, math.pi),
    ball=lambda x: x.tan(),
    derivative=("1+tan(x)^2",),
)
