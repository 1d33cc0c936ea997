"""Functions of integers of 64 and of 32 bits, which wrap where they overflow.

A divisor 0 counts as 1, as in torch's operations on a stage (`torch_stage` in `ta.functions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from einderive.eops.cpu_kernels.words.machine import Written, compiled
from einderive.eops.cpu_kernels.words.simple_elements import whole_simple


@cache
def whole_elements(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for int64 or int32."""
    whole = np.int64 if dtype == "int64" else np.int32
    zero, one = whole(0), whole(1)

    @compiled
    def remainder(x: Any, y: Any) -> Any:
        small = (y == zero) | (y == -one)  # the least number has no quotient by -1
        return zero if small else x % (one if small else y)

    @compiled
    def fmod(x: Any, y: Any) -> Any:
        left = remainder(x, y)
        return left - y if (left != zero) & ((x < zero) != (y < zero)) else left

    @compiled
    def floor_divide(x: Any, y: Any) -> Any:
        small = (y == zero) | (y == -one)
        quotient = x // (one if small else y)
        return -x if y == -one else quotient

    own = {"remainder": remainder, "fmod": fmod, "floor_divide": floor_divide}
    return {**whole_simple(dtype), **own}
