"""1/(1 + e^-x)."""

from typing import Any

import numpy as np

from einderive.ta.functions.data import Function


def _real(x: Any) -> Any:
    """`e/(1+e)` or `1/(1+e)` with e = exp(-|x|): nothing cancels or overflows."""
    small = np.exp(-np.abs(x))
    return np.where(np.signbit(x), small, 1.0) / (1.0 + small)


FUNCTION = Function(
    "sigmoid",
    _real,
    latex=r"\sigma",
    triton="1.0 / (1.0 + _exp(-{0}))",
    triton_needs=("exp",),
    definition="1/(1+exp(-x))",
    range=(0, 1),
    ball=lambda x: 1 / (1 + (-x).exp()),
    derivative=("sigmoid(x)*sigmoid(-x)",),
)
