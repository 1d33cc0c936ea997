"""Functions of float32 that need no float64, for loops that vectorise.

    log(x)     n*log 2 + log(1+f)           x = 2^n * (1+f) with 1+f in [sqrt(1/2), sqrt(2))
    log2(x)    n + log(1+f)/log 2
    log10(x)   n*log10(2) + log(1+f)/log 10
    log1p(x)   n*log 2 + log(1+f)           1+x = 2^n * (1+f), f = 2^-n*x + (2^-n - 1), one rounding
    tanh(x)    t = E/(E + 2) with E = e^(2x) - 1, and 1/(E + 2) = (1 - t)/2 for its correction
    asin(x)    x + x^3*P(x^2) for |x| <= NEAR, else pi/2 - 2*asin(sqrt((1-|x|)/2))
    acos(x)    pi/2 - asin(x) for |x| <= NEAR, else 2*asin(sqrt((1-x)/2)), with pi for x < 0
    atan(x)    the angle between x and one of 0, 1 and infinity, and that one's
    atan2(y, x)    0, pi/2 or pi, plus or minus t + t^3*P(t^2), t the smaller over the larger one

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
    root,
    with_sign,
)
from einderive.eops.cpu_kernels.words.polynomials import SHORT, polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)

EXPONENT: Final[tuple[float, ...]] = DATA["exponent"]
"""(e^r - 1 - r)/r^2"""
LOG: Final[tuple[float, ...]] = DATA["log"]
ARC: Final[tuple[float, ...]] = DATA["arc"]
"""(asin(x)/x - 1)/x^2 in x^2, for |x| <= NEAR."""
NEAR: Final = 0.56
SLOPE: Final[tuple[float, ...]] = DATA["slope"]
"""(atan(t)/t - 1)/t^2 in t^2, for |t| <= 1."""
LOG2: Final = (0.693145751953125, 1.428606820309417e-06)
"""log 2: so few bits that their product with an exponent is exact, and the rest."""
LOG10_OF_2: Final = (0.301025390625, 4.605038981195214e-06)


def logarithms() -> Mapping[str, Written]:
    """log, log2, log10 and log1p."""
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
    quarter, four, field = f32(0.25), i32(f32(4).view(i32)), i32(-(1 << 23))

    @compiled
    def beyond(f: Any) -> Any:
        """log(1+f) - f"""
        z = f * f
        return fused(series(f), f * z, -half * z)

    @compiled
    def parts(x: Any) -> Any:
        """n, f, and log(1+f) - f"""
        small = x < smallest
        y = x * lift if small else x
        exponent = i32(i32(bits(y) - start) >> fraction)  # numba's own type of these is int64
        n = f32(exponent) - (lifted if small else zero)
        f = from_bits(i32(bits(y) - (exponent << fraction))) - one
        return n, f, beyond(f)

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

    @compiled
    def log1p(x: Any) -> Any:
        power = i32(i32(bits(one + x) - start) & field)  # n, where an exponent is
        n = f32(i32(power >> fraction))
        f = from_bits(i32(bits(x) - power)) + fused(quarter, from_bits(i32(four - power)), -one)
        found = fused(n, high, f + fused(n, low, beyond(f)))
        found = found if x < infinity else x
        found = found if x > -one else -infinity if x == -one else nothing
        return x if x == zero else found

    return {"log": log, "log2": log2, "log10": log10, "log1p": log1p}


def arcs() -> Mapping[str, Written]:
    """The functions by their names in the notation."""
    f32 = np.float32
    sines, angles, slopes = (
        polynomial(f32, ARC),
        polynomial(f32, SHORT["atan"]),
        polynomial(f32, SLOPE),
    )
    zero, one, half, two, near = f32(0), f32(1), f32(0.5), f32(2), f32(NEAR)
    half_pi, quarter, whole_pi = f32(math.pi / 2), f32(math.pi / 4), f32(math.pi)
    rest = f32(math.pi / 2 - float(half_pi))
    above, middle = f32(1 + math.sqrt(2)), f32(math.sqrt(2) - 1)
    bits = machine.BITS["float32"]

    @compiled
    def asin(x: Any) -> Any:
        y = absolute(x)
        far = y > near
        z = half * (one - y) if far else y * y
        s = root(z) if far else y
        found = fused(sines(z), s * z, s)
        return with_sign(half_pi - (two * found - rest) if far else found, x)

    @compiled
    def acos(x: Any) -> Any:
        y = absolute(x)
        far = y > near
        z = half * (one - y) if far else y * y
        s = root(z) if far else x
        found = fused(sines(z), s * z, s)
        twice = two * found
        beyond = whole_pi - (twice - two * rest) if x < zero else twice
        return beyond if far else half_pi - (found - rest)

    @compiled
    def atan(x: Any) -> Any:
        y = absolute(x)
        high, low = y > above, y > middle
        q = (-one if high else y - one if low else y) / (y if high else y + one if low else one)
        first = half_pi if high else quarter if low else zero
        lost = rest if high else half * rest if low else zero
        z = q * q
        return with_sign(first + (q + fused(angles(z), q * z, lost)), x)

    @compiled
    def atan2(y: Any, x: Any) -> Any:
        up, across = absolute(y), absolute(x)
        steep, left = up > across, bits(x) < 0
        less, more = (across, up) if steep else (up, across)
        t = one if less == more else less / more
        t = zero if less == zero else t
        z = t * t
        found = fused(slopes(z), t * z, t)
        turns = steep != left
        found = -found if turns else found
        first = half_pi if steep else whole_pi if left else zero
        lost = rest if steep else two * rest if left else zero
        found = first + (found + lost)
        return with_sign(found, y) if (x == x) & (y == y) else x + y

    return {"asin": asin, "acos": acos, "atan": atan, "atan2": atan2}


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
