"""Remainders, rounded quotients, and quotients by one number.

divided(x, m, r, s) x/y by the parts of y: m = y*s and r = 1/m, where s is a power of two with which
                    m lies between 1/2 and 1, for most y.  Of q = x*s*r, q + (x*s - q*m)*r is the
                    quotient, rounded once (P. Markstein, Computation of elementary functions on the
                    IBM RISC System/6000, 1990).  It may be a neighbour of that number if x or x/y
                    is below 2^-100 (in float64, 2^-968), or x/y next to the largest number
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
    BITS,
    FROM_BITS,
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
def divisions(dtype: str) -> Mapping[str, Written]:
    """`divided`, and the parts of a divisor, for float32 or float64."""
    real = np.float32 if dtype == "float32" else np.float64
    whole, digits = (np.int32, 23) if dtype == "float32" else (np.int64, 52)
    zero, one, infinity = real(0), real(1), real(math.inf)
    least, most = whole(1), whole(253 if dtype == "float32" else 2045)
    fraction, mask = whole(digits), most + whole(2)
    bits, from_bits = BITS[dtype], FROM_BITS[dtype]

    @compiled
    def scale(y: Any) -> Any:
        exponent = whole((bits(y) >> fraction) & mask)
        return from_bits(whole(max(most - exponent, least) << fraction))

    @compiled
    def scaled(y: Any, s: Any) -> Any:
        return y * s

    @compiled
    def inverse(y: Any, s: Any) -> Any:
        return one / (y * s)

    @compiled
    def divided(x: Any, m: Any, r: Any, s: Any) -> Any:
        of = x * s
        q = of * r
        left_over = fused(-q, m, of)
        nearer, size = fused(left_over, r, q), absolute(q)
        off = (left_over < zero) | (left_over > zero)  # no NaN
        return nearer if off & (size < infinity) else q

    return {"scale": scale, "inverse": inverse, "scaled": scaled, "divided": divided}


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
