"""Powers of float64 on vectors of AVX-512.

    x^y         2^(y*log2 |x|)       the logarithm as a sum of two numbers, of some 65 bits
    log2(x)     n + T + (log(1+r) + l/(1+r))/log 2      x = 2^n * m,  m*c = 1 + r + l exactly
    2^p         2^n * t * 2^r        p = n + k/16 + r,  |r| <= 1/32

m lies in [0.73, 1.46); its first bits choose c, which is near 1/m, and T = -log2(c).  c is 1 from
1 - 1/48 to 1 + 1/48; |r| <= 0.0301 everywhere.  t and T are sums of two numbers.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from einderive.eops.cpu_kernels.avx512.exponentials import PARTS, RANGES, roots
from einderive.eops.cpu_kernels.avx512.powers import finished
from einderive.eops.cpu_kernels.avx512.registers import Vector
from einderive.eops.cpu_kernels.avx512.tables import columns, logarithm, pair
from einderive.ta.listing import beside

DATA = beside(__name__)

POWER: Final[tuple[float, ...]] = DATA["power"]
"""(2^r - 1)/r"""
SERIES: Final[tuple[float, ...]] = DATA["series"]
"""(log(1+r) - r + r^2/2)/r^3"""
PER_LOG2: Final = (1.4426950408889634, 2.0355273740931033e-17)
SHARE: Final = 2 / 3
"""A piece of [1, 1.46) begins so much of its length before a multiple of 1/16, and a piece below 1
before one of 1/32: so the piece about 1 reaches as far to both sides."""
BREAK: Final = 1 + (8 - SHARE) / PARTS
PLACE: Final = 48
"""The bits behind the first four of a fraction."""
GRID: Final = 2.0**40
MOST: Final = 1100.0
"""The results are 0 or infinite beyond 2^MOST."""


@cache
def _logarithms() -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """c, and T as two numbers, of which the first has few bits."""
    middles = [(1 + (k + 0.5 - SHARE) / PARTS) / (2 if k >= 8 else 1) for k in range(PARTS)]
    inverses = tuple(1.0 if k == 0 else 1 / middle for k, middle in enumerate(middles))
    return inverses, *columns(pair(logarithm(c, 2.0).copy_negate(), GRID) for c in inverses)


def _logarithm(x: Vector) -> tuple[Vector, Vector]:
    """log2(x) for x > 0 as a sum of two numbers."""
    builder = x.builder
    inverses, highs, lows = _logarithms()
    m, n = x.mantissa(), x.exponent()
    upper = m.compare("oge", BREAK)
    m, n = m.choose(upper, m * 0.5, m), n.choose(upper, n + 1.0, n)
    start = m.integers(round(SHARE * 2.0**PLACE))
    place = builder.lshr(builder.add(m.bits(), start), m.integers(PLACE))
    c, high, low = (m.table(values, place) for values in (inverses, highs, lows))
    product = m * c
    lost = m.fused(c, -product)
    r = product - 1.0
    lost = lost * r.fused(r - 1.0, 1.0)
    square = r * r
    more = r.fused(r, -square).fused(-0.5, lost)
    near = square.fused(-0.5, r)
    more = more + square.fused(-0.5, r - near)
    more = (square * r).fused(r.polynomial(SERIES), more)
    first = near + more
    second = (near - first) + more
    v = first * PER_LOG2[0]
    rest = first.fused(PER_LOG2[0], -v)
    rest = first.fused(PER_LOG2[1], second.fused(PER_LOG2[0], rest)) + low
    whole = n + high
    found = whole + v
    return found, ((whole - found) + v) + rest


def power(x: Vector, y: Vector) -> Vector:
    first, second = _logarithm(x.absolute())
    p = y * first
    rest = y.fused(second, y.fused(first, -p))
    inside = p.absolute().compare("olt", MOST)
    rest = p.choose(inside, rest, 0.0)
    p = p.at_least(-MOST).at_most(MOST)
    shift = RANGES["float64"].shift
    moved = p + shift
    n = moved - shift
    r = (p - n) + rest
    high, low = (moved.table(values) for values in roots())
    found = high.fused(r * r.polynomial(POWER), low) + high
    return finished(x, y, found.scaled(n))
