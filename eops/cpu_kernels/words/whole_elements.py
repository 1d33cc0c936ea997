"""Functions of integers of 64 and of 32 bits, which wrap where they overflow.

A divisor 0 counts as 1, as in torch's operations on a stage (`torch_stage` in `ta.functions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from einderive.eops.cpu_kernels.words.machine import Written, compiled


@cache
def whole_elements(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for int64 or int32."""
    whole = np.int64 if dtype == "int64" else np.int32
    zero, one = whole(0), whole(1)
    most = whole(63 if dtype == "int64" else 31)

    @compiled
    def same(x: Any) -> Any:
        return x

    @compiled
    def magnitude(x: Any) -> Any:
        return -x if x < zero else x

    @compiled
    def relu(x: Any) -> Any:
        return zero if x < zero else x

    @compiled
    def sign(x: Any) -> Any:
        return whole(x > zero) - whole(x < zero)

    @compiled
    def maximum(x: Any, y: Any) -> Any:
        return x if x >= y else y

    @compiled
    def minimum(x: Any, y: Any) -> Any:
        return x if x <= y else y

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

    @compiled
    def both(x: Any, y: Any) -> Any:
        return x & y

    @compiled
    def either(x: Any, y: Any) -> Any:
        return x | y

    @compiled
    def differing(x: Any, y: Any) -> Any:
        return x ^ y

    @compiled
    def left(x: Any, y: Any) -> Any:
        return zero if y > most else x << (most if y > most else y)

    @compiled
    def right(x: Any, y: Any) -> Any:
        return x >> (most if y > most else y)

    return {
        "abs": magnitude,
        "bitwise_and": both,
        "bitwise_left_shift": left,
        "bitwise_or": either,
        "bitwise_right_shift": right,
        "bitwise_xor": differing,
        "ceil": same,
        "floor": same,
        "floor_divide": floor_divide,
        "fmod": fmod,
        "maximum": maximum,
        "minimum": minimum,
        "relu": relu,
        "remainder": remainder,
        "round": same,
        "sign": sign,
        "trunc": same,
    }
