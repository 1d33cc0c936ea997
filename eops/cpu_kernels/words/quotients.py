"""Remainders and rounded quotients.

fmod(x, y)          x - y*trunc(x/y), without rounding: the C library's, one call an element; in
                    `near_quotients`, for |x/y| < FAR, the quotient rounded is off by one at most,
                    and x minus its product with y a number of the type
remainder(x, y)     fmod(x, y), plus y where the signs differ
floor_divide(x, y)  (x - remainder(x, y))/y, which is whole but for its rounding
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    fused,
    left,
    rounded_down,
    rounded_to_zero,
    with_sign,
)

FAR: Final = 2.0**22


@cache
def quotients(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    return _by(left, dtype)


@cache
def near_quotients(dtype: str) -> Mapping[str, Written]:
    """The same functions, valid for |x/y| < FAR only, and for each of them `far_...`, which is 1
    where |x/y| is larger, else 0."""
    real = np.float32 if dtype == "float32" else np.float64
    zero, limit, infinity = real(0), real(FAR), real(math.inf)
    here, there = np.int32(0), np.int32(1)

    @compiled
    def left_near(x: Any, y: Any) -> Any:
        r = fused(-rounded_to_zero(x / y), y, x)
        other = (r != zero) & ((r < zero) != (x < zero))
        r = r + with_sign(y, x) if other else r
        r = x if (absolute(y) == infinity) & (absolute(x) < infinity) else r
        return with_sign(r, x)

    @compiled
    def far(x: Any, y: Any) -> Any:
        return there if absolute(x / y) >= limit else here

    found = _by(left_near, dtype)
    return {**found, **{f"far_{word}": far for word in found}}


def _by(left: Written, dtype: str) -> dict[str, Written]:
    """The functions, from `left`, which gives the remainder with the sign of x."""
    real = np.float32 if dtype == "float32" else np.float64
    zero, one, half = real(0), real(1), real(0.5)

    @compiled
    def fmod(x: Any, y: Any) -> Any:
        return left(x, y)

    @compiled
    def remainder(x: Any, y: Any) -> Any:
        r = left(x, y)
        return r + y if (r != zero) & ((r < zero) != (y < zero)) else r

    @compiled
    def floor_divide(x: Any, y: Any) -> Any:
        r = left(x, y)
        q = (x - r) / y
        q = q - one if (r != zero) & ((r < zero) != (y < zero)) else q
        low = rounded_down(q)
        low = low + one if q - low > half else low
        low = with_sign(zero, x / y) if q == zero else low
        return x / y if y == zero else low

    return {"fmod": fmod, "remainder": remainder, "floor_divide": floor_divide}
