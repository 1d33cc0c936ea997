"""Logarithms of float32 on vectors of AVX-512.

    log(x)      n*log 2 + log(1+f)            x = 2^n * (1+f) with 1+f in [3/4, 3/2)
    log2(x)     n + log(1+f)/log 2
    log10(x)    n*log10(2) + log(1+f)/log 10

log(1+f) = f - f^2/2 + f^3*P(f).  Subnormal numbers count, and the instructions themselves give what
logarithms of 0, of infinity and of negative numbers are.
"""

from __future__ import annotations

import math
from typing import Final

from einderive.eops.cpu_kernels.avx512.registers import Vector
from einderive.eops.cpu_kernels.words.short_elements import LOG2, LOG10_OF_2
from einderive.ta.listing import beside

DATA = beside(__name__)

LOG: Final[tuple[float, ...]] = DATA["log"]
BEYOND_ONE: Final = 1 / math.log(2) - 1
PER_LOG10: Final = (0.4342944920063019, -1.0103049952192578e-08)
"""1/log 10 as a sum of two numbers."""


def parts(x: Vector) -> tuple[Vector, Vector]:
    """n and f with x = 2^n * (1+f)"""
    m = x.fraction()
    return x.exponent() - m.exponent(), m - 1.0


def beyond(f: Vector) -> Vector:
    """log(1+f) - f"""
    z = f * f
    return f.polynomial(LOG).fused(f * z, z * -0.5)


def log(x: Vector) -> Vector:
    n, f = parts(x)
    return n.fused(LOG2[0], f + n.fused(LOG2[1], beyond(f)))


def log2(x: Vector) -> Vector:
    n, f = parts(x)
    rest = beyond(f)
    return (n + f) + (f + rest).fused(BEYOND_ONE, rest)


def log10(x: Vector) -> Vector:
    n, f = parts(x)
    r = f + beyond(f)
    return n.fused(LOG10_OF_2[0], r.fused(PER_LOG10[0], r.fused(PER_LOG10[1], n * LOG10_OF_2[1])))
