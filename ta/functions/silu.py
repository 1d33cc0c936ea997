"""x*sigmoid(x)."""

from typing import Any

import numpy as np

from einderive.ta.functions.data import Function


def _real(x: Any) -> Any:
    """exp(-|x|) as a square, so that it is not subnormal where the result is normal."""
    root = np.exp(-0.5 * np.abs(x))
    side = np.where(np.signbit(x), root, 1.0)
    return side * x * (side / (1.0 + root * root))


FUNCTION = Function(
    "silu",
    _real,
    torch="F.silu",
    triton="{0} / (1.0 + _exp(-{0}))",
    triton_float32="tl.div_rn({0}, 1.0 + _exp(-{0}))",
    triton_needs=("exp",),
    definition="x*sigmoid(x)",
    at_zero=0,
    ball=lambda x: x / (1 + (-x).exp()),
    derivative=("sigmoid(x)*(1 + x*sigmoid(-x))",),
)
