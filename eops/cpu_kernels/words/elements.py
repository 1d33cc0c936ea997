"""Functions of one number that loops vectorise: numba itself would call the C library for each.

    exp(x)     2^n * e^r                    n the integer nearest to x/log 2, |r| <= log(2)/2;
                                            e^r = 1 + r*(1 + r*P(r))
    log(x)     n*log 2 + log m              x = 2^n * m with m in [sqrt(1/2), sqrt(2)); of float64
    expm1(x)   2^n * expm1(r) + (2^n - 1)
    log1p(x)   log(1+x) + what 1+x loses, over 1+x; of float64
    tanh(x)    1 - 2/(e^(2|x|) + 1)         with the sign of x; near 0 a polynomial; of float64

Polynomials interpolate at Chebyshev's nodes; they are exact to more bits than the type has.  NaN
stays NaN, infinities and signed zeros give what the functions have there, and subnormal numbers
count.  `tests/eops/cpu_kernels/test_elements.py` measures each against mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.words.machine import Written, absolute, compiled, fused, with_sign
from einderive.eops.cpu_kernels.words.polynomials import polynomial
from einderive.eops.cpu_kernels.words.short_elements import EXPONENT, hyperbolic_tangent, logarithms
from einderive.ta.listing import beside

DATA = beside(__name__)

NEAR: Final = 0.56
"""The largest |x| for which tanh is a polynomial."""


class _Format(NamedTuple):
    """A binary floating-point format, and what the functions need for its precision."""

    real: type
    whole: type
    fraction: int
    bias: int
    log2_high: float
    """log 2 to so few bits that its product with an exponent is exact; the rest is `log2_low`."""
    least_exp: float
    most_exp: float
    least_expm1: float
    exp: Sequence[float]
    """(e^r - 1 - r)/r^2"""
    short_exp: Sequence[float]
    """The same with the digits that count beside 1."""

    @property
    def round_to_int(self) -> float:
        """Beside it, the last bit of a number is 1."""
        return 1.5 * 2.0**self.fraction

    @property
    def log2_low(self) -> float:
        return float(np.longdouble("0.693147180559945309417232121458176568") - self.log2_high)


_FORMATS: Final[Mapping[str, _Format]] = {
    "float32": _Format(np.float32, np.int32, exp=EXPONENT, **DATA["formats"]["float32"]),
    "float64": _Format(np.float64, np.int64, short_exp=(), **DATA["formats"]["float64"]),
}

LOG: Final[tuple[float, ...]] = DATA["log"]
"""(2 atanh(s)/s - 2)/s^2 as a polynomial in s^2, for float64."""
TANH: Final[tuple[float, ...]] = DATA["tanh"]
"""(tanh(x)/x - 1)/x^2 in x^2, for |x| <= NEAR, in float64."""


@cache
def elements(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    form = _FORMATS[dtype]
    exp, expm1 = _exponentials(form, dtype)
    if dtype == "float32":
        found = {name: logarithms()[name] for name in ("log", "log1p")}
        return {"exp": exp, "expm1": expm1, **found, "tanh": hyperbolic_tangent()}
    log = _long_log(form)
    return {
        "exp": exp,
        "expm1": expm1,
        "log": log,
        "log1p": _long_log1p(form, log),
        "tanh": _long_tanh(exp),
    }


def exponent_series(dtype: str) -> Sequence[float]:
    """(e^r - 1 - r)/r^2 with the digits that the type needs."""
    return _FORMATS[dtype].exp


@cache
def times_exponential(dtype: str) -> Written:
    """f(y, z, c, d) = (c + d) * e^(y + z), rounded in one sum, for -1000 <= y <= 0 and numbers z
    and d that the digits of y and c do not hold."""
    form = _FORMATS[dtype]
    real, whole = form.real, form.whole
    bits, from_bits = machine.BITS[dtype], machine.FROM_BITS[dtype]
    inverse, biased = real(1 / math.log(2)), real(form.round_to_int + 2 * form.bias)
    high, low = real(-form.log2_high), real(-form.log2_low)
    series, fraction, single = polynomial(real, form.exp), whole(form.fraction), whole(1)

    @compiled
    def weighted(y: Any, z: Any, c: Any, d: Any) -> Any:
        moved = fused(y, inverse, biased)
        n = moved - biased
        r = fused(n, high, y) + fused(n, low, z)
        grown = fused(series(r), r * r, r)
        both = bits(moved)  # its last bits are n and the bias twice
        first = both >> single
        p = c + fused(c, grown, fused(d, grown, d))
        p = p * from_bits(first << fraction)
        return p * from_bits((both - first) << fraction)

    return weighted


def _exponentials(form: _Format, dtype: str) -> tuple[Written, Written]:
    real, whole = form.real, form.whole
    bits, from_bits = machine.BITS[dtype], machine.FROM_BITS[dtype]
    shift, high, low = real(form.round_to_int), real(-form.log2_high), real(-form.log2_low)
    inverse, zero_bits = real(1 / math.log(2)), whole(real(form.round_to_int).view(form.whole))
    least, most, least_expm1 = map(real, (form.least_exp, form.most_exp, form.least_expm1))
    zero, one, half, two = real(0), real(1), real(0.5), real(2)
    bias, fraction, single = whole(form.bias), whole(form.fraction), whole(1)
    rest, itself = polynomial(real, form.exp), real(2.0 ** -(form.fraction + 3))
    beside_one = polynomial(real, form.short_exp or form.exp)
    biased = real(form.round_to_int + 2 * form.bias)

    @compiled
    def exp(x: Any) -> Any:
        y = zero if x < least else x
        y = most if y > most else y
        moved = fused(y, inverse, biased)
        n = moved - biased
        r = fused(n, low, fused(n, high, y))
        p = fused(fused(beside_one(r), r, one), r, one)
        both = bits(moved)  # its last bits are n and the bias twice
        first = both >> single  # 2^n itself may lie beyond the numbers
        p = p * from_bits(first << fraction)
        p = p * from_bits((both - first) << fraction)
        return zero if x <= least else p

    @compiled
    def expm1(x: Any) -> Any:
        y = least_expm1 if x < least_expm1 else x
        y = most if y > most else y
        moved = fused(y, inverse, shift)
        n = moved - shift
        m = bits(moved) - zero_bits
        r = fused(n, low, fused(n, high, y))
        p = fused(rest(r), r * r, r)
        power = from_bits((m - single + bias) << fraction)  # half of 2^m, for the largest m
        found = two * fused(power, p, power - half)
        return x if absolute(x) < itself else found

    return exp, expm1


def _long_log(form: _Format) -> Written:
    """Of float64; that of float32 is in `short_elements.py`."""
    parts = long_logarithm()
    zero, infinity, nothing = form.real(0), form.real(math.inf), form.real(math.nan)

    @compiled
    def log(x: Any) -> Any:
        high, low = parts(x)
        found = high + low
        found = x if x == infinity else found
        found = -infinity if x == zero else found
        return found if x >= zero else nothing

    return log


@cache
def long_logarithm() -> Written:
    """f(x) = high, low with log(x) = high + low for x > 0, of float64; high is a multiple of log 2
    to so few digits that nothing is rounded, and |low| < 1/2."""
    form = _FORMATS["float64"]
    real, whole = form.real, form.whole
    bits, from_bits = machine.BITS["float64"], machine.FROM_BITS["float64"]
    high, low, start = (
        real(form.log2_high),
        real(form.log2_low),
        whole(real(math.sqrt(0.5)).view(whole)),
    )
    fraction, lift = whole(form.fraction), real(2.0**form.fraction)
    smallest, lifted = real(np.finfo(real).tiny), real(form.fraction)
    zero, one, half, two = real(0), real(1), real(0.5), real(2)
    series = polynomial(real, LOG)

    @compiled
    def parts(x: Any) -> Any:
        small = x < smallest
        y = x * lift if small else x
        place = bits(y) - start
        exponent = place >> fraction
        m = from_bits(bits(y) - (exponent << fraction))
        n = real(exponent) - (lifted if small else zero)
        f = m - one
        s = f / (two + f)
        z = s * s
        square = half * f * f
        return n * high, f - (square - fused(n, low, s * fused(series(z), z, square)))

    return parts


def _long_log1p(form: _Format, log: Written) -> Written:
    """Of float64; that of float32 is in `short_elements.py`."""
    zero, one, infinity = form.real(0), form.real(1), form.real(math.inf)

    @compiled
    def log1p(x: Any) -> Any:
        u = one + x
        lost = x - (u - one)
        found = log(u) + (lost / u if u > zero else zero)
        found = x if x == infinity else found
        return x if x == zero else found

    return log1p


def _long_tanh(exp: Written) -> Written:
    """Of float64; that of float32 is in `short_elements.py`."""
    rest = polynomial(np.float64, TANH)

    @compiled
    def tanh(x: Any) -> Any:
        y = absolute(x)
        far, z = 1.0 - 2.0 / (exp(2.0 * y) + 1.0), x * x
        return with_sign(fused(rest(z), z * y, y) if y <= NEAR else far, x)

    return tanh
