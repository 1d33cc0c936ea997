"""Remainders, rounded quotients, and the inverse of the error function.

fmod(x, y)          x - y*trunc(x/y), without rounding: the C library's, one call an element
remainder(x, y)     fmod(x, y), plus y where the signs differ
floor_divide(x, y)  (x - remainder(x, y))/y, which is whole but for its rounding
erfinv(x)           quotients of polynomials in x^2; in the tails, in the root of a logarithm
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from einderive.eops.cpu_kernels.words.elements import elements, polynomial
from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    left,
    root,
    rounded_down,
    with_sign,
)
from einderive.eops.cpu_kernels.words.wide import of_one
from einderive.ta.functions.erfinv import CENTRE, FAR_TAIL, TAIL


@cache
def quotients(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
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

    return {
        "fmod": fmod,
        "remainder": remainder,
        "floor_divide": floor_divide,
        "erfinv": of_one(_erfinv(), dtype),
    }


def _erfinv() -> Written:
    (up, down), (tail_up, tail_down), (far_up, far_down) = (
        tuple(polynomial(np.float64, row) for row in rows) for rows in (CENTRE, TAIL, FAR_TAIL)
    )
    log, scale = elements("float64")["log"], math.sqrt(0.5)

    @compiled
    def erfinv(x: Any) -> Any:
        size = absolute(x)
        r = root(-log(0.5 * (1.0 - size)))
        middle, end = r - 1.6, r - 5.0
        tail = tail_up(middle) / tail_down(middle)
        tail = far_up(end) / far_down(end) if r > 5.0 else tail
        tail = r if size == 1.0 else tail
        near = 0.180625 - 0.25 * size * size
        centre = 0.5 * size * up(near) / down(near)
        found = scale * (centre if size <= 0.85 else tail)
        return with_sign(found, x) if size == size else x

    return erfinv
