"""Powers of float32 on vectors of AVX-512: x^y = 2^(y*log2 |x|), in two halves of float64.

What powers of 0, of negative numbers and of infinity are is asked where one of 16 numbers is such.

    log2(x)   n + T + r*P(r)      x = 2^n * m with m in [1, 2),  r = m*c - 1,  T = -log2(c)
    2^p       2^n * t * Q(r)      p = n + k/8 + r,  t = 2^(k/8),  |r| <= 1/16

c is near 1/m, 1 near 1 and 1/2 near 2; the first bits of m choose c and T from tables.
"""

from __future__ import annotations

import math
from typing import Any, Final

from einderive.eops.cpu_kernels.avx512.registers import Vector

LOG: Final = (
    1.4426950408900159,
    -0.7213475203063577,
    0.4808983335285321,
    -0.36067420023781593,
    0.28856839571968873,
    -0.2403314096368669,
    0.18855782774763263,
)
"""log2(1+r)/r for -1/31 <= r <= 1/16"""
POWER: Final = (
    1.0,
    0.6931471742016542,
    0.24022650622457237,
    0.05551061948219019,
    0.009618881258343,
)
"""2^r"""
PLACE: Final = 48
"""The bits behind the first four of a fraction."""
MOST: Final = 160.0
"""The results are 0 or infinite beyond 2^MOST."""


INVERSES: Final = (1.0, *(1 / (1 + (k + 0.5) / 16) for k in range(1, 15)), 0.5)
LOGARITHMS: Final = tuple(-math.log2(c) for c in INVERSES)


def _half(x: Vector, y: Vector) -> Vector:
    """|x|^y of float64, with the digits that float32 needs."""
    m = x.mantissa()
    place = m.builder.lshr(m.bits(), m.integers(PLACE))
    r = m.fused(m.table(INVERSES, place), -1.0)
    n = x.exponent() + m.table(LOGARITHMS, place)
    p = y * r.polynomial(LOG).fused(r, n)
    p = p.at_least(-MOST).at_most(MOST)
    shift = 1.5 * 2.0**49
    moved = p + shift
    n = moved - shift
    t = moved.table(tuple(2.0 ** (k / 8) for k in range(8)))
    return ((p - n).polynomial(POWER) * t).scaled(n)


def _whole(y: Vector) -> tuple[Any, Any]:
    """Whether y is an integer, and whether it is odd."""
    builder, half = y.builder, y * 0.5
    whole = y.rounded_down().compare("oeq", y)
    return whole, builder.and_(whole, half.rounded_down().compare("one", half))


def power(x: Vector, y: Vector) -> Vector:
    count, size = x.lanes // 2, x.absolute()
    first, second = (
        _half(size.part(k, count).wide(), y.part(k, count).wide()).narrow() for k in (0, count)
    )
    return finished(x, y, first.beside(second))


def finished(x: Vector, y: Vector, found: Vector) -> Vector:
    """x^y, where `found` is |x|^y for numbers that are neither 0 nor infinite."""
    builder = x.builder

    def rare() -> tuple[Any]:
        size, unit = x.absolute(), x.absolute().compare("ogt", 1.0)
        grows = builder.icmp_unsigned("==", unit, y.compare("ogt", 0.0))
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
        return (x.choose(one, 1.0, here).value,)

    usual = builder.and_(x.compare("ogt", 0.0), x.compare("olt", math.inf))
    usual = builder.and_(usual, y.absolute().compare("olt", math.inf))
    (value,) = x.when_any(builder.not_(usual), rare, (found.value,))
    return Vector(builder, value, x.dtype)
