"""Functions of float32 that need no float64, for loops that vectorise.

    log(x)     n*log 2 + log(1+f)           x = 2^n * (1+f) with 1+f in [sqrt(1/2), sqrt(2))
    log2(x)    n + log(1+f)/log 2
    log10(x)   n*log10(2) + log(1+f)/log 10
    tanh(x)    t = E/(E + 2) with E = e^(2x) - 1, and 1/(E + 2) = (1 - t)/2 for its correction

log(1+f) = f - f^2/2 + f^3*P(f).  The polynomials interpolate at Chebyshev's nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    fused,
    with_sign,
)
from einderive.eops.cpu_kernels.words.polynomials import polynomial
from einderive.eops.cpu_kernels.words.short_angles import arcs
from einderive.ta.listing import beside

DATA = beside(__name__)

EXPONENT: Final[tuple[float, ...]] = DATA["exponent"]
"""(e^r - 1 - r)/r^2"""
LOG: Final[tuple[float, ...]] = DATA["log"]
LOG2: Final = (0.693145751953125, 1.428606820309417e-06)
"""log 2: so few bits that their product with an exponent is exact, and the rest."""
LOG10_OF_2: Final = (0.301025390625, 4.605038981195214e-06)


def logarithms() -> Mapping[str, Written]:
    """log, log2 and log10."""
    f32, i32 = np.float32, np.int32
    bits, from_bits = machine.BITS["float32"], machine.FROM_BITS["float32"]
    start, fraction = i32(f32(math.sqrt(0.5)).view(i32)), i32(23)
    lift, smallest, lifted = f32(2.0**23), f32(np.finfo(f32).tiny), f32(23)
    zero, one, half = f32(0), f32(1), f32(0.5)
    infinity, nothing, series = f32(math.inf), f32(math.nan), polynomial(f32, LOG)
    high, low = map(f32, LOG2)
    high10, low10 = map(f32, LOG10_OF_2)
    per10 = f32(1 / math.log(10))
    per10_low = f32(1 / math.log(10) - float(per10))
    beyond_one = f32(1 / math.log(2) - 1)

    @compiled
    def parts(x: Any) -> Any:
        """n, f, and log(1+f) - f"""
        small = x < smallest
        y = x * lift if small else x
        exponent = i32(i32(bits(y) - start) >> fraction)  # numba's own type of these is int64
        n = f32(exponent) - (lifted if small else zero)
        f = from_bits(i32(bits(y) - (exponent << fraction))) - one
        z = f * f
        return n, f, fused(series(f), f * z, -half * z)

    @compiled
    def special(x: Any, found: Any) -> Any:
        """A logarithm where it is no number."""
        found = x if x == infinity else found
        found = -infinity if x == zero else found
        return found if x >= zero else nothing

    @compiled
    def log(x: Any) -> Any:
        n, f, rest = parts(x)
        return special(x, fused(n, high, f + fused(n, low, rest)))

    @compiled
    def log2(x: Any) -> Any:
        n, f, rest = parts(x)
        return special(x, n + (f + fused(f + rest, beyond_one, rest)))

    @compiled
    def log10(x: Any) -> Any:
        n, f, rest = parts(x)
        r = f + rest
        return special(x, fused(n, high10, fused(r, per10, fused(r, per10_low, n * low10))))

    return {"log": log, "log2": log2, "log10": log10}


def hyperbolic_tangent() -> Written:
    f32, i32 = np.float32, np.int32
    bits, from_bits = machine.BITS["float32"], machine.FROM_BITS["float32"]
    series, fraction = polynomial(f32, EXPONENT), i32(23)
    biased, twice = f32(1.5 * 2.0**23 + 127), f32(2 / math.log(2))
    high, low = (f32(-part / 2) for part in LOG2)
    most, half, one, two = f32(10), f32(0.5), f32(1), f32(2)

    @compiled
    def tanh(x: Any) -> Any:
        y = absolute(x)
        y = most if y > most else y
        moved = fused(y, twice, biased)
        n = moved - biased
        r = fused(n, low, fused(n, high, y))
        r = r + r
        power = from_bits(i32(bits(moved) << fraction))
        grown = fused(power, fused(series(r), r * r, r), power - one)  # e^(2y) - 1
        found = grown / (grown + two)
        lost = fused(-found, two, fused(-found, grown, grown))  # also by the sum
        found = fused(lost, fused(-half, found, half), found)
        return with_sign(one if found > one else found, x)

    return tanh


@cache
def short_elements(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation; none for float64."""
    if dtype != "float32":
        return {}
    return {**logarithms(), **arcs()}
