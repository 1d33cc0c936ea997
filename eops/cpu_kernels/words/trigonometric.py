"""Sine, cosine and tangent, and their inverses, for loops that vectorise.

    sin(x), cos(x)   (-1)^k sin(r), (-1)^k cos(r) or exchanged,     x = n*pi/2 + r, |r| <= pi/4
    tan(x)           sin(r)/cos(r), or -cos(r)/sin(r) where n is odd
    asin(x)          x + x^3*P(x^2);  pi/2 - 2*asin(sqrt((1 - |x|)/2)) for |x| > 1/2, with the sign
    atan(x)          x + x^3*P(x^2);  pi/4 + atan((x-1)/(x+1)), pi/2 - atan(1/x) for larger x

For |x| < 2^28, n*pi/2 is taken off in three parts of pi/2 (two for float32, whose polynomials are
of float32).  Beyond, x = m*2^e is multiplied by the digits of 2/pi that count: those of 2^e*2/pi
modulo 4, from a table, to 212 bits behind the point.  Loops use the former alone, in `near`, and
run once more where an operand was beyond.
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
    called,
    compiled,
    fused,
    root,
    rounded_even,
    table,
    with_sign,
)
from einderive.eops.cpu_kernels.words.polynomials import SHORT, polynomial
from einderive.eops.cpu_kernels.words.wide import of_one, of_two, series

PARTS: Final = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
"""pi/2"""
FAR: Final = 2.0**28
FIRST: Final = 28 - 52
"""The exponent e of FAR = m*2^e, 2^52 <= m < 2^53: there the table begins."""
LAST: Final = 971
"""The exponent of the largest numbers."""
DIGITS: Final = 1248
TWO_OVER_PI: Final = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
    "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4"
    "9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc20",
    16,
)
"""2/pi * 2^DIGITS"""


def _turns() -> tuple[float, ...]:
    """2^e*2/pi modulo 4, for e from FIRST to LAST, each as a sum of four numbers."""
    found = []
    for e in range(FIRST, LAST + 1):
        rest = (TWO_OVER_PI << e if e >= 0 else TWO_OVER_PI >> -e) % (4 << DIGITS)
        for _ in range(4):
            shift = max(rest.bit_length() - 53, 0)
            found.append(math.ldexp(rest >> shift, shift - DIGITS))
            rest -= rest >> shift << shift
    return tuple(found)


@compiled
def two_sum(a: Any, b: Any) -> Any:
    """The rounded sum, and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@cache
def _near() -> Written:
    """x to r, the error of r, and bits of which the last two are n modulo 4, for |x| < FAR."""
    bits = machine.BITS["float64"]
    first, second, third = PARTS
    inverse, shift = 2 / math.pi, 1.5 * 2.0**52

    @compiled
    def reduced(x: Any) -> Any:
        moved = fused(x, inverse, shift)
        n = moved - shift
        r = fused(n, -first, x)
        part = n * second
        high = r - part
        low = (r - high) - part - fused(n, second, -part) - n * third
        return high, low, bits(moved)

    return reduced


@cache
def _reduction(dtype: str) -> Written:
    """The same for every x."""
    bits, from_bits = machine.BITS["float64"], machine.FROM_BITS["float64"]
    turn, near_by = table(_turns()), _near()
    first, second, _ = PARTS
    shift = 1.5 * 2.0**52
    digits, exact = np.int64((1 << 52) - 1), np.int64(1075 << 52)
    start, last, field = np.int64(1075 + FIRST), np.int64(LAST - FIRST), np.int64(52)
    none, four = np.int64(0), np.int64(4)
    short = dtype == "float32"

    @called
    def beyond(x: Any) -> Any:
        b = bits(absolute(x))
        m = from_bits((b & digits) | exact)
        place = (b >> field) - start
        place = four * (none if place < none else last if place > last else place)
        product = m * turn(place)
        error = fused(m, turn(place), -product)
        total, lost = two_sum(product - 4.0 * rounded_even(0.25 * product), error)
        product = m * turn(place + 1)
        error = fused(m, turn(place + 1), -product)
        total, more = two_sum(total, product)
        if short:
            moved = total + shift
            high, low = two_sum(total - (moved - shift), lost + more + error)
        else:
            lost, rest = two_sum(lost, more)
            lost, more = two_sum(lost, error)
            rest += more
            product = m * turn(place + 2)
            error = fused(m, turn(place + 2), -product)
            lost, more = two_sum(lost, product)
            rest += more + error + m * turn(place + 3)
            moved = total + shift
            total, more = two_sum(total - (moved - shift), lost)
            high, low = two_sum(total, more + rest)
        angle = high * first
        low = fused(high, first, -angle) + high * second + low * first
        negative = x < 0.0
        turned = -(bits(moved) & np.int64(3)) if negative else bits(moved)
        return -angle if negative else angle, -low if negative else low, turned

    @compiled
    def reduced(x: Any) -> Any:
        return near_by(x) if absolute(x) < FAR else beyond(x)

    return reduced


@cache
def trigonometric(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    return _of_angles(_reduction(dtype), dtype)


@cache
def near(dtype: str) -> Mapping[str, Written]:
    """The same functions, valid for |x| < FAR only, and for each of them `far_...`, which is 1
    where |x| is larger, else 0."""
    whole = np.int32
    limit, here, there = (np.float32 if dtype == "float32" else np.float64)(FAR), whole(0), whole(1)

    @compiled
    def far(x: Any) -> Any:
        return there if absolute(x) >= limit else here

    found = _in_short() if dtype == "float32" else _of_angles(_near(), dtype)
    return {**found, **{f"far_{word}": far for word in found}}


def _in_short() -> Mapping[str, Written]:
    """Of float32: the angle is reduced in float64."""
    real, whole = np.float32, np.int32
    sines, cosines = (polynomial(real, SHORT[name]) for name in ("sin", "cos"))
    first, second, _ = PARTS
    inverse, shift = 2 / math.pi, 1.5 * 2.0**52
    bits = machine.BITS["float64"]
    half, unit = real(0.5), real(1)
    none, one, two = whole(0), whole(1), whole(2)

    @compiled
    def reduced(x: Any) -> Any:
        wide = np.float64(x)
        moved = fused(wide, inverse, shift)
        n = moved - shift
        angle = fused(n, -second, fused(n, -first, wide))
        high = real(angle)
        return high, real(angle - np.float64(high)), whole(bits(moved))

    @compiled
    def sine(r: Any, low: Any, z: Any) -> Any:
        return r + fused(r * z, sines(z), low)

    @compiled
    def cosine(r: Any, low: Any, z: Any) -> Any:
        part = half * z
        first = unit - part
        return first + fused(z * z, cosines(z), fused(-r, low, (unit - first) - part))

    @compiled
    def quarter(x: Any, more: Any) -> Any:
        """sin(x + more*pi/2)"""
        r, low, n = reduced(x)
        n, z = n + more, r * r
        found = cosine(r, low, z) if (n & one) != none else sine(r, low, z)
        return -found if (n & two) != none else found

    @compiled
    def ratio(x: Any) -> Any:
        r, low, n = reduced(x)
        z = r * r
        up, across = sine(r, low, z), cosine(r, low, z)
        odd = (n & one) != none
        return (-across if odd else up) / (up if odd else across)

    return _whole_line(quarter, ratio, real, whole)


def _of_angles(reduced: Written, dtype: str) -> Mapping[str, Written]:
    """The functions of an angle that is reduced so."""
    sines, cosines = series("sin", dtype), series("cos", dtype)
    one, two, none = np.int64(1), np.int64(2), np.int64(0)

    @compiled
    def sine(high: Any, low: Any, z: Any) -> Any:
        """Of the reduced angle, but for `high`, which is to be added."""
        return high * z * sines(z) + low * (1.0 - 0.5 * z)

    @compiled
    def cosine(high: Any, low: Any, z: Any) -> Any:
        """Of the reduced angle, but for 1 - z/2, rounded, which is to be added."""
        half = 0.5 * z
        return ((1.0 - (1.0 - half)) - half) + (z * z * cosines(z) - high * low)

    @compiled
    def quarter(x: Any, more: Any) -> Any:
        """sin(x + more*pi/2)"""
        high, low, n = reduced(x)
        n, z = n + more, high * high
        across = 1.0 - 0.5 * z + cosine(high, low, z)
        found = across if (n & one) != none else high + sine(high, low, z)
        return -found if (n & two) != none else found

    @compiled
    def ratio(x: Any) -> Any:
        high, low, n = reduced(x)
        z = high * high
        up, across = sine(high, low, z), cosine(high, low, z)
        above, below = two_sum(high, up), two_sum(1.0 - 0.5 * z, across)
        odd = (n & one) != none
        p, p_low = (-below[0], -below[1]) if odd else above
        q, q_low = above if odd else below
        found = p / q
        return found + (fused(-found, q, p) + p_low - found * q_low) / q

    found = _whole_line(quarter, ratio, np.float64, np.int64)
    return {name: of_one(function, dtype) for name, function in found.items()}


def _whole_line(quarter: Written, ratio: Written, real: type, whole: type) -> Mapping[str, Written]:
    """The functions at every x: tiny ones are their own sine and tangent, infinite ones have none.

    `quarter(x, n)` is sin(x + n*pi/2), and `ratio(x)` is sin(x)/cos(x), where x is finite.
    """
    infinity, nothing, tiny = real(math.inf), real(math.nan), real(2.0**-28)
    none, one = whole(0), whole(1)

    @compiled
    def sin(x: Any) -> Any:
        found = quarter(x, none) if absolute(x) < infinity else nothing
        return x if absolute(x) < tiny else found

    @compiled
    def cos(x: Any) -> Any:
        return quarter(x, one) if absolute(x) < infinity else nothing

    @compiled
    def tan(x: Any) -> Any:
        found = ratio(x) if absolute(x) < infinity else nothing
        return x if absolute(x) < tiny else found

    return {"sin": sin, "cos": cos, "tan": tan}


@cache
def inverses(dtype: str) -> Mapping[str, Written]:
    """The inverse functions by their names in the notation, for float32 or float64."""
    arcs, angles = series("asin", dtype), series("atan", dtype)
    half_pi, rest, quarter = PARTS[0], PARTS[1], math.pi / 4
    above, middle, tiny = 1 + math.sqrt(2), math.sqrt(2) - 1, 2.0**-28
    bits = machine.BITS["float64"]

    @compiled
    def asin(x: Any) -> Any:
        y = absolute(x)
        z = 0.5 * (1.0 - y)
        twice = 2.0 * root(z)
        far = (half_pi - twice) - (twice * z * arcs(z) - rest)
        z = y * y
        found = far if y > 0.5 else y + y * z * arcs(z)
        return x if y < tiny else with_sign(found, x)

    @compiled
    def acos(x: Any) -> Any:
        y = absolute(x)
        z = 0.5 * (1.0 - y)
        s = root(z)
        far = 2.0 * (s + s * z * arcs(z))
        far = 2.0 * half_pi - (far - 2.0 * rest) if x < 0.0 else far
        z = x * x
        return far if y > 0.5 else half_pi - (x - (rest - x * z * arcs(z)))

    @compiled
    def positive(y: Any) -> Any:
        """atan(y) for y >= 0"""
        high, low = y > above, y > middle
        q = (-1.0 if high else y - 1.0 if low else y) / (y if high else y + 1.0 if low else 1.0)
        start = half_pi if high else quarter if low else 0.0
        lost = rest if high else 0.5 * rest if low else 0.0
        z = q * q
        return start + (q + (q * z * angles(z) + lost))

    @compiled
    def atan(x: Any) -> Any:
        return x if absolute(x) < tiny else with_sign(positive(absolute(x)), x)

    @compiled
    def atan2(y: Any, x: Any) -> Any:
        above, beside = absolute(y), absolute(x)
        t = 1.0 if above == beside else above / beside
        t = 0.0 if above == 0.0 else t
        lost = fused(-t, beside, above) / (beside * (1.0 + t * t))  # by the rounding of t
        found = positive(t) + (lost if absolute(lost) < tiny else 0.0)
        found = found if t >= tiny else t
        found = 2.0 * half_pi - (found - 2.0 * rest) if bits(x) < 0 else found
        return with_sign(found, y) if (x == x) & (y == y) else x + y

    return {
        "asin": of_one(asin, dtype),
        "acos": of_one(acos, dtype),
        "atan": of_one(atan, dtype),
        "atan2": of_two(atan2, dtype),
    }
