"""Powers of float32 on vectors of AVX-512: x^y = 2^(y*log2 |x|), the logarithm as a sum of two.

    log2(x)   n + T + r*P(r)      x = 2^n * m with m in [1, 2),  r = m*c - 1,  T = -log2(c)
    2^p       2^n * t * Q(r)      p = n + k/16 + r,  t = 2^(k/16),  |r| <= 1/32

c is near 1/m, 1 near 1 and 1/2 near 2; the first bits of m choose c and T from tables.  c has
so few bits that r is exact; T is a sum of two numbers, the first with so few that n + T is exact.

Powers of 0, of negative numbers and of infinity are computed by a branch, which is taken if one of
the 16 numbers of a vector needs it.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any, Final

from einderive.eops.cpu_kernels.avx512.registers import Vector
from einderive.eops.cpu_kernels.avx512.tables import columns, logarithm, pair
from einderive.ta.listing import beside

DATA = beside(__name__)

LOG: Final[tuple[float, ...]] = DATA["log"]
"""log2(1+r)/r - FIRST - SECOND*r for -1/38 <= r <= 1/32"""
FIRST: Final = 1.4426950216293335
SECOND: Final = -0.721347451210022
POWER: Final = (0.6931471805709536, 0.24023355227125157, 0.05550504026378945)
"""(2^r - 1)/r"""
PLACE: Final = 18
"""The bits behind the first five of a fraction."""
PARTS: Final = 16
SHIFT: Final = 1.5 * 2.0**23 / PARTS
"""Beside it, the last bit of a number is 1/PARTS."""
MOST: Final = 152.0
"""The results are 0 or infinite beyond 2^MOST."""
GRID: Final = 2.0**16


@cache
def _tables() -> tuple[tuple[float, ...], ...]:
    """Of each piece, c, the multiple of 1/64 for which |r| stays the smallest, and T."""
    ends = [1 + k / 32 for k in range(33)]
    between = (
        min((c / 64 for c in range(32, 65)), key=lambda c: max(abs(low * c - 1), abs(high * c - 1)))
        for low, high in pairwise(ends[1:-1])
    )
    inverses = (1.0, *between, 0.5)
    return inverses, *columns(pair(logarithm(c, 2.0).copy_negate(), GRID) for c in inverses)


def _logarithm(x: Vector) -> tuple[Vector, Vector]:
    """log2 |x| as a sum of two numbers."""
    m = x.mantissa(of_size=True)
    place = m.builder.lshr(m.bits(), m.integers(PLACE))
    c, high, low = (m.table(values, place) for values in _tables())
    r = m.fused(c, -1.0)
    whole = x.exponent() + high
    slope = r.fused(SECOND, FIRST)
    lost = r.fused(SECOND, r.same(FIRST) - slope)
    found = r.fused(slope, whole)  # `slope` rounded, and what that loses in `lost`
    rest = r.fused(r.polynomial(LOG) + lost, r.fused(slope, whole - found))
    return found, rest + low


def _grown(p: Vector, rest: Vector) -> Vector:
    """2^(p + rest); the rest is not always small."""
    moved = (p + rest) + SHIFT
    n = moved - SHIFT
    r = (p - n) + rest
    t = moved.table(tuple(2.0 ** (k / PARTS) for k in range(PARTS)))
    return (t * r).fused(r.polynomial(POWER), t).scaled(n)


def _whole(y: Vector) -> tuple[Any, Any]:
    """Whether y is an integer, and whether it is odd."""
    builder, half = y.builder, y * 0.5
    whole = y.rounded_down().compare("oeq", y)
    return whole, builder.and_(whole, half.rounded_down().compare("one", half))


def power(x: Vector, y: Vector) -> Vector:
    builder = x.builder
    first, second = _logarithm(x)
    p = y * first
    rest = y.fused(second, y.fused(first, -p))
    inside = p.absolute().compare("olt", MOST)

    def rare() -> tuple[Any]:
        ends = p.at_least(-MOST).at_most(MOST)
        here = ends.where("oeq", p, found, x.same(1.0).scaled(ends))
        return (special(x, y, here).value,)

    found = _grown(p, rest)
    usual = builder.and_(inside, builder.and_(x.compare("ogt", 0.0), x.compare("olt", math.inf)))
    (value,) = x.when_any(builder.not_(usual), rare, (found.value,))
    return Vector(builder, value, x.dtype)


def special(x: Vector, y: Vector, found: Vector) -> Vector:
    """x^y of any numbers, where `found` is |x|^y for numbers that are neither 0 nor infinite."""
    builder, size = x.builder, x.absolute()
    grows = builder.icmp_unsigned("==", size.compare("ogt", 1.0), y.compare("ogt", 0.0))
    edge = builder.or_(size.compare("oeq", 0.0), size.compare("oeq", math.inf))
    edge = builder.or_(edge, y.absolute().compare("oeq", math.inf))
    here = x.choose(edge, x.choose(grows, math.inf, 0.0), found)
    whole, odd = _whole(y)
    here = x.choose(odd, here.with_sign(x), here)
    inside = builder.and_(x.compare("olt", 0.0), size.compare("olt", math.inf))
    here = x.choose(builder.and_(inside, builder.not_(whole)), math.nan, here)
    here = x.choose(builder.fcmp_unordered("uno", x.value, y.value), math.nan, here)
    turns = builder.and_(size.compare("oeq", 1.0), y.absolute().compare("oeq", math.inf))
    one = builder.or_(y.compare("oeq", 0.0), builder.or_(x.compare("oeq", 1.0), turns))
    return x.choose(one, 1.0, here)


def finished(x: Vector, y: Vector, found: Vector) -> Vector:
    """The same.  The special cases are computed by a branch, which is taken if one of the vector's
    numbers needs it."""
    builder = x.builder
    usual = builder.and_(x.compare("ogt", 0.0), x.compare("olt", math.inf))
    usual = builder.and_(usual, y.absolute().compare("olt", math.inf))
    rare = builder.not_(usual)
    (value,) = x.when_any(rare, lambda: (special(x, y, found).value,), (found.value,))
    return Vector(builder, value, x.dtype)
