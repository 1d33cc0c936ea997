"""Powers, and logarithms to other bases, for loops that vectorise.

2^x              2^n * e^(r*log 2)              n the integer nearest to x
log2(x)          n + log(m)/log 2               x = 2^n * m
log10(x)         n*log10(2) + log(m)/log 10
x^y              e^(y*log|x|), with a sign      the logarithm as a sum of two numbers
hypot(x, y)      2^n * sqrt(a^2 + b^2)          a, b the operands over 2^n, n = 0 or +-600
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.words.elements import exponent_series
from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    fused,
    root,
    rounded_down,
    rounded_even,
)
from einderive.eops.cpu_kernels.words.polynomials import polynomial
from einderive.eops.cpu_kernels.words.wide import of_one, of_two, series

LOG2_HIGH: Final = 0.6931471803691238
LOG2_LOW: Final = 1.9082149292705877e-10
PER_LOG2: Final = (1.4426950408889634, 2.0355273740931033e-17)
PER_LOG10: Final = (0.4342944819032518, 1.098319650216765e-17)
LOG10_OF_2: Final = (0.30102999566395283, 2.8363394551044964e-14)
THIRDS: Final = (0.6666666666666666, 3.700743415417188e-17)


@cache
def scaled_exponential(dtype: str) -> Written:
    """f(r, n) = e^r * 2^n for |r| <= log(2)/2 and a whole number n."""
    bits, from_bits = machine.BITS["float64"], machine.FROM_BITS["float64"]
    rest, shift = polynomial(np.float64, exponent_series(dtype)), 1.5 * 2.0**52
    start, bias, field = np.int64(np.float64(shift).view(np.int64)), np.int64(1023), np.int64(52)

    @compiled
    def scaled(r: Any, n: Any) -> Any:
        m = bits(n + shift) - start
        first = m >> np.int64(1)  # 2^m itself may lie beyond the numbers
        p = fused(rest(r), r * r, r) + 1.0
        return p * from_bits((first + bias) << field) * from_bits((m - first + bias) << field)

    return scaled


def _parts(dtype: str) -> Written:
    """f(x) = n, high, low with log(x) = n*log(2) + high + low for x > 0, of some 66 bits; of 34
    for float32, for which low is 0."""
    bits, from_bits = machine.BITS["float64"], machine.FROM_BITS["float64"]
    start, field = np.int64(np.float64(math.sqrt(0.5)).view(np.int64)), np.int64(52)
    rest, smallest = series("log", dtype), float(np.finfo(np.float64).tiny)
    short = dtype == "float32"

    @compiled
    def parts(x: Any) -> Any:
        small = x < smallest
        b = bits(x * 2.0**52 if small else x)
        exponent = (b - start) >> field
        m = from_bits(b - (exponent << field))
        f, d = m - 1.0, m + 1.0
        s = f / d
        if short:
            z = s * s
            high = s * fused(z * z, rest(z), fused(z, THIRDS[0], 2.0))
            return np.float64(exponent) - (52.0 if small else 0.0), high, 0.0
        s_low = (fused(-s, d, f) - s * (m - (d - 1.0))) / d
        z = s * s
        z_low = fused(s, s, -z) + 2.0 * s * s_low
        third = z * THIRDS[0]
        third_low = fused(z, THIRDS[0], -third) + z * THIRDS[1] + z_low * THIRDS[0]
        more = z * z * rest(z)
        c = third + more
        c_low = (third - c) + more + third_low
        v = s * c
        v_low = fused(s, c, -v) + s * c_low + s_low * c
        high = 2.0 * s + v
        low = (2.0 * s - high) + v + (v_low + 2.0 * s_low)
        return np.float64(exponent) - (52.0 if small else 0.0), high, low

    return parts


def _finished(dtype: str) -> Written:
    """f(x, y, |x|^y) = x^y with the sign, and where an operand is 0, infinite or NaN."""
    real = np.float32 if dtype == "float32" else np.float64
    bits = machine.BITS[dtype]
    zero, half, unit = real(0), real(0.5), real(1)
    infinity, nothing = real(math.inf), real(math.nan)

    @compiled
    def finished(x: Any, y: Any, found: Any) -> Any:
        size = absolute(x)
        grows = (size > unit) == (y > zero)
        edge = (size == zero) | (size == infinity) | (absolute(y) == infinity)
        found = (infinity if grows else zero) if edge else found
        whole = rounded_down(y) == y
        odd = whole & (rounded_down(half * y) != half * y)
        found = -found if odd & (bits(x) < 0) else found
        found = nothing if (x < zero) & (size < infinity) & ~whole else found
        found = nothing if (x != x) | (y != y) else found
        one = (y == zero) | (x == unit) | ((size == unit) & (absolute(y) == infinity))
        return unit if one else found

    return finished


@cache
def powers(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    parts, scaled = _parts(dtype), scaled_exponential(dtype)
    infinity, nothing = math.inf, math.nan

    @compiled
    def exp2(x: Any) -> Any:
        y = -1100.0 if x < -1100.0 else 1100.0 if x > 1100.0 else x
        n = rounded_even(y)
        r = y - n
        found = scaled(r * math.log(2), n)
        return found if x == x else x

    @compiled
    def special(x: Any, found: Any) -> Any:
        """A logarithm where it is no number."""
        found = x if x == infinity else found
        found = -infinity if x == 0.0 else found
        return found if x >= 0.0 else nothing

    @compiled
    def log2(x: Any) -> Any:
        n, high, low = parts(x)
        found = n + fused(high, PER_LOG2[0], fused(high, PER_LOG2[1], low * PER_LOG2[0]))
        return special(x, found)

    @compiled
    def log10(x: Any) -> Any:
        n, high, low = parts(x)
        rest = fused(high, PER_LOG10[1], fused(n, LOG10_OF_2[1], low * PER_LOG10[0]))
        return special(x, fused(n, LOG10_OF_2[0], fused(high, PER_LOG10[0], rest)))

    finished = _finished(dtype)

    @compiled
    def short_power(x: Any, y: Any) -> Any:
        """Of float32."""
        n, high, _ = parts(np.float64(absolute(x)))
        p = np.float64(y) * fused(n, math.log(2), high)
        p = -150.0 if p < -150.0 else 150.0 if p > 150.0 else p
        n = rounded_even(p * PER_LOG2[0])
        return finished(x, y, np.float32(scaled(fused(n, -math.log(2), p), n)))

    @compiled
    def power(x: Any, y: Any) -> Any:
        size = absolute(x)
        n, high, low = parts(size)
        start = n * LOG2_HIGH
        total = start + high  # |high| <= |start|, or start is 0
        low = low + (high - (total - start)) + n * LOG2_LOW
        high = total + low
        low = low - (high - total)
        product = y * high
        rest = fused(y, high, -product) + y * low
        p = -800.0 if product < -800.0 else 800.0 if product > 800.0 else product
        rest = rest if p == product else 0.0
        n = rounded_even(p * PER_LOG2[0])
        r = fused(n, -LOG2_HIGH, p)
        found = scaled(r + (rest - n * LOG2_LOW), n)
        return finished(x, y, 0.0 if product < -800.0 else infinity if product > 800.0 else found)

    @compiled
    def hypot(x: Any, y: Any) -> Any:
        a, b = absolute(x), absolute(y)
        top = a if a > b else b
        down = 2.0**-600 if top > 2.0**500 else 2.0**600 if top < 2.0**-450 else 1.0
        up = 2.0**600 if top > 2.0**500 else 2.0**-600 if top < 2.0**-450 else 1.0
        a, b = a * down, b * down
        found = root(fused(a, a, b * b)) * up
        found = x + y if (x != x) | (y != y) else found
        return infinity if (absolute(x) == infinity) | (absolute(y) == infinity) else found

    return {
        "exp2": of_one(exp2, dtype),
        "log2": of_one(log2, dtype),
        "log10": of_one(log10, dtype),
        "pow": short_power if dtype == "float32" else power,
        "hypot": of_two(hypot, dtype),
    }
