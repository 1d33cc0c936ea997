"""Functions made of an exponential and a logarithm, for loops that vectorise.

sigmoid(x)       1/(1 + e^(-x))                   of e^(-|x|), so that nothing overflows
silu(x)          x*sigmoid(x)
softplus(x)      max(x, 0) + log(1 + e^(-|x|))
logaddexp(x, y)  max(x, y) + log(1 + e^(-|x-y|))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from einderive.eops.cpu_kernels.words.machine import Written, absolute, compiled

SHIFTS: Final = {"float32": 66.09375, "float64": 64.0}
"""silu(x) = e^(x + s) * x * e^(-s) for x < -s, so that no factor is a subnormal number; e^(-s) is
rounded by less than a hundredth of a unit.  1 + e^(-s) rounds to 1, and log(1 + e^(-s)) to e^(-s):
beyond s, no function here computes with the small exponential, which may be subnormal and then
takes the processor 20 times as long."""


@cache
def composed(dtype: str, exp: Written, fine: Written, log1p: Written) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64; `fine` is the
    exponential where a logarithm is taken of it."""
    real = np.float32 if dtype == "float32" else np.float64
    zero, one, infinity = real(0), real(1), math.inf
    shift = real(SHIFTS[dtype])
    shifted = real(math.exp(-shift))
    least = real(math.exp(-shift - 1))

    @compiled
    def sigmoid(x: Any) -> Any:
        small = exp(-absolute(shift if x > shift else x))
        return (small if x < zero else one) / (one + small)

    @compiled
    def silu(x: Any) -> Any:
        below = x < -shift
        small = exp(x + shift if below else -absolute(shift if x > shift else x))
        found = (small if x < zero else one) * x / (one + (zero if below else small))
        return found * shifted if below else found

    @compiled
    def softplus(x: Any) -> Any:
        small, far = fine(-absolute(x)), absolute(x) > shift
        top = x if x > zero else zero
        found = top + log1p(small if small > least else least)
        found = (x if x > zero else small) if far else found
        return found if x == x else x

    @compiled
    def logaddexp(x: Any, y: Any) -> Any:
        top = y if y > x else x
        small, far = fine(-absolute(x - y)), absolute(x - y) > shift
        more = log1p(small if small > least else least)
        found = top + (small if far else more)
        found = x if (x == y) & (absolute(x) == infinity) else found
        return found if (x == x) & (y == y) else x + y

    return {"sigmoid": sigmoid, "silu": silu, "softplus": softplus, "logaddexp": logaddexp}
