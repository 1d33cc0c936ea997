"""Logarithms of float64 on vectors of AVX-512.

    log(x)      n*log 2 + T + log(1+r)      x = 2^n * m with m in [1, 2),  r = m*c - 1
    log2(x)     n + T + log(1+r)/log 2
    log10(x)    n*log10(2) + T + log(1+r)/log 10
    log1p(x)    log(u) + l/u,  u = 1+x rounded, l what that loses

c is near 1/m, 1 near 1 and 1/2 near 2, so that |r| <= 1/16.  The first bits of m choose c and T,
the logarithm of 1/c to this base, from tables.  T and the logarithm of 2 are sums of two numbers,
of which the first have so few bits that n*log 2 + T is exact.  log(1+r) = r + r^2*Q(r).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from einderive.eops.cpu_kernels.avx512.registers import Vector
from einderive.eops.cpu_kernels.avx512.tables import Pair, columns, logarithm, of_e, pair
from einderive.ta.listing import beside

DATA = beside(__name__)

SERIES: Final[tuple[float, ...]] = DATA["series"]
"""(log(1+r) - r)/r^2 for -1/31 <= r <= 1/16"""
INVERSES: Final = (1.0, *(1 / (1 + (k + 0.5) / 16) for k in range(1, 15)), 0.5)
PLACE: Final = 48
"""The bits behind the first four of a fraction."""
GRID: Final = 2.0**41
"""Numbers below 2048 that are whole if multiplied by this have sums that are exact."""


@dataclass(frozen=True)
class Base:
    """The base of a logarithm, 0 for e."""

    number: float

    @property
    def unit(self) -> Pair:
        """The logarithm of e."""
        return pair(of_e(self.number)) if self.number else (1.0, 0.0)

    @property
    def two(self) -> Pair:
        """The logarithm of 2.  Both numbers are positive or 0: so infinite n give the logarithms of
        0 and infinity."""
        return pair(logarithm(2.0, self.number), GRID)

    def tables(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """T by the first bits of m; that of 2 is `two`, so that it and n*log 2 cancel near 1."""
        return columns(pair(logarithm(c, self.number).copy_negate(), GRID) for c in INVERSES)


E, TWO, TEN = Base(0.0), Base(2.0), Base(10.0)


def _logarithm(x: Vector, base: Base, more: Vector | None = None) -> Vector:
    """The logarithm of x; of x*(1 + more), where that is given."""
    m = x.mantissa()
    place = m.builder.lshr(m.bits(), m.integers(PLACE))
    r = m.fused(m.table(INVERSES, place), -1.0)
    n = x.exponent()
    first, second = (m.table(values, place) for values in base.tables())
    rest = n.fused(base.two[1], second) if base.two[1] else second
    rest = rest if more is None else rest + more
    rest = (r * r).fused(r.polynomial([c * base.unit[0] for c in SERIES]), rest)
    if base.unit[1]:
        rest = r.fused(base.unit[1], rest)
        found = r.fused(base.unit[0], rest)
    else:
        found = r + rest
    return n.fused(base.two[0], first) + found


def _to_base(name: str, base: Base) -> Callable[[Vector], Vector]:
    def formula(x: Vector) -> Vector:
        return _logarithm(x, base)

    formula.__name__ = name
    return formula


def log1p(x: Vector) -> Vector:
    u = x + 1.0
    near = u.inverse()
    off = (-near).fused(u, 1.0)
    lost = (x - (u - 1.0)) * near
    lost = lost.fused(off, lost)
    found = _logarithm(u, E, lost.fused(off * off, lost))  # 1/u = near*(1 + off)*(1 + off^2)
    found = x.where("oeq", math.inf, x, found)
    found = x.where("oeq", -1.0, -math.inf, found)
    return x.where("oeq", 0.0, x, found)


LOGARITHMS: Final[tuple[Callable[..., Any], ...]] = (
    _to_base("log", E),
    _to_base("log2", TWO),
    _to_base("log10", TEN),
    log1p,
)
