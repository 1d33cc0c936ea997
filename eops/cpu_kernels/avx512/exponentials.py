"""The exponential and functions of it on vectors of AVX-512, for float32 and float64.

    exp(x)      2^n * t * e^r      x = (n + k/16)*log 2 + r,  t = 2^(k/16),  |r| <= log(2)/32
    exp2(x)     2^n * t * 2^r      x = n + k/16 + r
    sigmoid(x)  1/(1 + e^(-x))     e^x where that is the same
    silu(x)     x/(1 + e^(-x))     x*e^x likewise

The processor takes 20 times as long for an instruction whose operand or result is subnormal, or
that rounds to 0.  So no operand of these formulas is so small, and a subnormal result is counted in
the least numbers of the type and put together from that count; that is a branch, which is taken if
one of the vector's numbers needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from einderive.eops.cpu_kernels.avx512.registers import Vector
from einderive.eops.cpu_kernels.avx512.tables import columns, pair, root_of_two
from einderive.eops.cpu_kernels.words.short_elements import LOG2
from einderive.ta.functions import FUNCTIONS
from einderive.ta.listing import beside

EXP: Final[tuple[float, ...]] = beside(__name__)["exp"]
"""(e^r - 1 - r)/r^2, for float64"""
SHORT: Final = (1.0, 1 / 2 + (math.log(2) / 32) ** 2 / 32, 1 / 6)
"""(e^r - 1)/r, for float32: at |r| <= h, r^3/24 is nearly r*h^2/32, to a quarter of what it is"""
POWER: Final = (
    1.0,
    0.6930448446127969,
    0.24128020701166814,
    0.05224246943017226,
    0.013426687242475224,
)
"""2^f for 0 <= f < 1, to 2.9e-6, and exactly for f = 0"""
_ERFC: Final = FUNCTIONS["erfc"].triton_helper
assert _ERFC is not None
TAIL: Final[tuple[float, ...]] = tuple(_ERFC.numbers("short")["series"])
"""e^(z^2)*erfc(z)/t in 2t - 1, to 5e-6 for z <= 11"""
LAST: Final = 200.0
"""e^(-z^2) and what it is multiplied by round to 0 from this z^2 on."""
LONG_LOG2: Final = (0.6931471805599453, 2.3190468138462996e-17)
PARTS: Final = 16
ROOTS: Final = tuple(float(np.float32(2.0 ** (k / PARTS))) for k in range(PARTS))
LOST: Final = tuple(2.0 ** (k / PARTS) - root for k, root in enumerate(ROOTS))
"""What the roots of two lose as float32."""


class Range(NamedTuple):
    """Where the results are which numbers of a type."""

    shift: float
    """Beside it, the last bit of a number is 1/PARTS."""
    zero: float
    """e^x and x*e^x round to 0 from here down."""
    infinite: float
    """e^x is infinite from here up."""
    usual: float
    """From here up, e^x and 1/(1 + e^(-x)) are not subnormal, and e^(-x) is finite; further down,
    the second is e^x."""
    alone: float
    """From here up, 1 + e^(-x) rounds to 1."""
    first: float
    """The exponent of the first number that is not subnormal."""
    digits: int
    """Of a fraction, in bits."""

    @property
    def least(self) -> float:
        """The exponent of the least number."""
        return self.first - self.digits


RANGES: Final = {
    "float32": Range(1.5 * 2.0**23 / PARTS, -112.0, 89.0, -87.0, 64.0, -126.0, 23),
    "float64": Range(1.5 * 2.0**52 / PARTS, -754.0, 710.0, -708.0, 64.0, -1022.0, 52),
}


@cache
def roots() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """2^(k/16), each as a sum of two numbers of float64."""
    return columns(pair(root_of_two(k, PARTS)) for k in range(PARTS))


Parts: TypeAlias = Callable[[Vector], tuple[Vector, Vector]]
"""m and n with e^x = m * 2^floor(n)."""


def rough(x: Vector) -> tuple[Vector, Vector]:
    return _by_roots(x, exact=False)


def fine(x: Vector, most: float | None = None) -> tuple[Vector, Vector]:
    """With what the table's numbers lose: for sums and quotients, whose error its own adds to.
    `most` takes the place of what larger numbers count as."""
    return _by_roots(x, exact=True, most=most)


def short(x: Vector) -> tuple[Vector, Vector]:
    """To five digits, for results that are rounded to 16 bits."""
    n = x * (1 / math.log(2))
    return n.beyond_whole().polynomial(POWER), n


def of_base_2(x: Vector) -> tuple[Vector, Vector]:
    """m and n with 2^x = m * 2^floor(n)."""
    limits = RANGES[x.dtype]
    x = x.at_least(limits.zero / math.log(2)).at_most(limits.infinite / math.log(2))
    moved = x + limits.shift
    n = moved - limits.shift
    return _put_together((x - n) * math.log(2), moved, exact=False), n


def _by_roots(x: Vector, exact: bool, most: float | None = None) -> tuple[Vector, Vector]:
    limits = RANGES[x.dtype]
    x = x.at_least(limits.zero).at_most(most or limits.infinite)
    moved = x.fused(1 / math.log(2), limits.shift)
    n = moved - limits.shift
    high, low = LOG2 if x.dtype == "float32" else LONG_LOG2
    r = n.fused(-low, n.fused(-high, x))
    return _put_together(r, moved, exact), n


def _put_together(r: Vector, moved: Vector, exact: bool) -> Vector:
    """t * e^r, with t of the last bits of `moved`."""
    if r.dtype == "float64":
        first, second = (moved.table(values) for values in roots())
        grown = (r * r).fused(r.polynomial(EXP), r)
        return first.fused(grown, second) + first
    t = moved.table(ROOTS)
    times, series = t * r, r.polynomial(SHORT)
    return times.fused(series, moved.table(LOST)) + t if exact else times.fused(series, t)


def _of_count(count: Vector) -> Vector:
    """This many of the type's least numbers, rounded once."""
    limits = RANGES[count.dtype]
    first = 2.0**limits.digits
    real = np.dtype(count.dtype)
    bits = int(real.type(first).view(f"int{8 * real.itemsize}"))
    whole = count.builder.sub((count + first).bits(), count.integers(bits))
    other = count.at_least(first).scaled(count.same(limits.least))
    return count.where("olt", first, count.of_bits(whole), other)


def exponential(x: Vector, parts: Parts) -> Vector:
    first, least = RANGES[x.dtype].first, RANGES[x.dtype].least
    m, n = parts(x)
    small = n.compare("olt", first)
    found = m.scaled(n.choose(small, 0.0, n))

    def rare() -> tuple[Any]:
        return (m.choose(small, _of_count(m.scaled(n - least)), found).value,)

    (value,) = x.when_any(small, rare, (found.value,))
    return Vector(x.builder, value, x.dtype)


def exp(x: Vector) -> Vector:
    return exponential(x, rough)


def exp2(x: Vector) -> Vector:
    return exponential(x, of_base_2)


def fine_exp(x: Vector) -> Vector:
    return exponential(x, fine)


def _divided(y: Vector | float, x: Vector, parts: Parts) -> Vector:
    """y/(1 + e^(-x)) for finite y, and for x from `usual` to `alone`."""
    limits = RANGES[x.dtype]
    m, n = parts(-x.at_least(limits.usual).at_most(limits.alone))
    below = m.scaled(n) + 1.0
    if x.dtype == "float64":
        return Vector(x.builder, x.like(y), x.dtype) / below
    near = below.inverse()
    found = near * y
    return (-found).fused(below, y).fused(near, found)


def sigmoid(x: Vector, parts: Parts = fine) -> Vector:
    found = _divided(1.0, x, parts)
    small = x.compare("olt", RANGES[x.dtype].usual)

    def rare() -> tuple[Any]:
        return (x.choose(small, exponential(x, parts), found).value,)

    (value,) = x.when_any(small, rare, (found.value,))
    return Vector(x.builder, value, x.dtype)


def silu(x: Vector, parts: Parts = fine) -> Vector:
    builder, limits = x.builder, RANGES[x.dtype]
    found = _divided(x, x, parts)
    small, infinite = x.compare("olt", limits.usual), x.absolute().compare("oeq", math.inf)

    def rare() -> tuple[Any]:
        near = x.at_least(limits.zero)
        m, n = fine(near)
        count = (m * near).absolute().scaled(n - limits.least)
        here = x.choose(small, _of_count(count).with_sign(x), found)
        ends = x.where("ogt", 0.0, x, math.nan)  # -infinity times 0
        return (x.choose(infinite, ends, here).value,)

    (value,) = x.when_any(builder.or_(small, infinite), rare, (found.value,))
    return Vector(builder, value, x.dtype)


def short_gelu(x: Vector) -> Vector:
    """x/2 * erfc(-x/sqrt(2)) to five digits: of z = |x|/sqrt(2), erfc(z) = e^(-z^2) * t * P(2t - 1)
    with t = 2/(2 + z)."""
    builder, limits = x.builder, RANGES[x.dtype]
    z = x.absolute() * math.sqrt(1 / 2)
    below = z.fused(0.5, 1.0)
    near = below.inverse()
    t = near * (-near).fused(below, 2.0)
    n = (z * z).at_most(LAST) * (-1 / math.log(2))
    m = n.beyond_whole().polynomial(POWER)
    half, part = x.absolute() * 0.5, t * t.fused(2.0, -1.0).polynomial(TAIL) * m
    small = n.compare("olt", limits.first)
    tail = half * part.scaled(n.choose(small, 0.0, n))
    found = x.where("olt", 0.0, -tail, x - tail)
    infinite = x.absolute().compare("oeq", math.inf)

    def rare() -> tuple[Any]:
        count = (half * part).scaled(n - limits.least)
        left = x.where("olt", 0.0, -_of_count(count), x)
        ends = x.where("ogt", 0.0, x, math.nan)  # -infinity times 0
        return (x.choose(infinite, ends, x.choose(small, left, found)).value,)

    (value,) = x.when_any(builder.or_(small, infinite), rare, (found.value,))
    return Vector(builder, value, x.dtype)
