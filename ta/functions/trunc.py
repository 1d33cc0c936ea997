"""x without its fraction: the integer nearest to x between 0 and x."""

import math
from typing import Any

import numpy as np

from einderive.ta.functions.data import Function, unchanged


def _ball(x: Any) -> Any:
    if x >= 0 or x <= 0:
        return x.floor() if x >= 0 else x.ceil()
    return x.floor().union(x.ceil())


FUNCTION = Function(
    "trunc",
    np.trunc,
    exact=unchanged(math.trunc),
    whole=True,
    triton_whole="{0}",
    at_zero=0,
    steps=True,
    turns=(-1.0, 1.0),
    triton="tl.where({0} < 0, tl.ceil({0}), tl.floor({0}))",
    ball=_ball,
    derivative=("0",),
)
