"""Powers of float32 on vectors of AVX-512: x^y = 2^(y*log2 |x|), in two halves of float64.

    log2(x)   n + T + r*P(r)      x = 2^n * m with m in [3/4, 3/2),  r = m*c - 1,  T = -log2(c)
    2^p       2^n * t * Q(r)      p = n + k/8 + r,  t = 2^(k/8),  |r| <= 1/16

c is near 1/m, and 1 near 1; the first bits of m choose c and T from tables.
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


def _inverses() -> tuple[float, ...]:
    """c of each sixteenth of [1, 2), of which the upper half is [3/4, 1)."""
    middles = [(1 + (k + 0.5) / 16) / (2 if k >= 8 else 1) for k in range(16)]
    return tuple(1.0 if k in (0, 15) else 1 / middle for k, middle in enumerate(middles))


INVERSES: Final = _inverses()
LOGARITHMS: Final = tuple(-math.log2(c) for c in INVERSES)


def _half(x: Vector, y: Vector) -> Vector:
    """|x|^y of float64, with the digits that float32 needs."""
    m = x.fraction()
    place = m.builder.lshr(m.bits(), m.integers(PLACE))
    r = m.fused(m.table(INVERSES, place), -1.0)
    n = x.exponent() - m.exponent() + m.table(LOGARITHMS, place)
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
    builder, count = x.builder, x.lanes // 2
    size = x.absolute()
    first, second = (
        _half(size.part(k, count).wide(), y.part(k, count).wide()).narrow() for k in (0, count)
    )
    found = first.beside(second)
    whole, odd = _whole(y)
    found = x.choose(odd, found.with_sign(x), found)
    inside = builder.and_(x.compare("olt", 0.0), size.compare("olt", math.inf))
    found = x.choose(builder.and_(inside, builder.not_(whole)), math.nan, found)
    turns = builder.and_(size.compare("oeq", 1.0), y.absolute().compare("oeq", math.inf))
    one = builder.or_(y.compare("oeq", 0.0), builder.or_(x.compare("oeq", 1.0), turns))
    return x.choose(one, 1.0, found)
