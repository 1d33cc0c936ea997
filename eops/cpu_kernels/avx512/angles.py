"""Sine, cosine and tangent of float32 on vectors of AVX-512, for |x| < 2^28.

    sin(x), cos(x)    +-sin(r) or +-cos(r),    x = n*pi/2 + r, |r| <= pi/4
    tan(x)            t = tan(r), or -1/t where n is odd

Where all numbers of a vector are below NEAR, n*pi/2 is taken off in three parts of float32, of
which the first product is exact; else in two parts of float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from einderive.eops.cpu_kernels.avx512.registers import Formula, Vector
from einderive.eops.cpu_kernels.words.polynomials import SHORT
from einderive.ta.listing import beside

PARTS: Final = (1.5707963705062866, -4.371139000186241e-08, -1.7151245100059438e-15)
"""pi/2 in parts of float32."""
WIDE_PARTS: Final = (1.5707963267948966, 6.123233995736766e-17)
NEAR: Final = 2.0**17
TANGENT: Final[tuple[float, ...]] = beside(__name__)["tangent"]
"""(tan(r)/r - 1)/r^2 in r^2."""
SIGN: Final = 30
"""Bit 1 of an integer becomes the sign, this many bits further."""


def _taken_off(x: Vector, shift: float, parts: Sequence[float]) -> tuple[Vector, Vector, Vector]:
    """r = x - n*pi/2, what r loses by rounding, and n, to which `shift` is added."""
    moved = x.fused(2 / math.pi, shift)
    n = moved - shift
    first = n.fused(-parts[0], x)
    r = first
    for part in parts[1:]:
        r = n.fused(-part, r)
    product = n * parts[1]
    rest = n.fused(parts[1], -product)
    for part in parts[2:]:
        rest = n.fused(part, rest)
    near = first - product
    change = near - first
    lost = (first - (near - change)) - (product + change)
    return r, (near - r) + (lost - rest), moved


def _reduced(x: Vector) -> tuple[Vector, Vector, Any]:
    """r, what r loses, and integers of which the last two bits are those of n."""
    near = _taken_off(x, 1.5 * 2.0**23, PARTS)

    def in_float64() -> list[Any]:
        half = x.lanes // 2
        found = []
        for k in (0, half):
            r, low, moved = _taken_off(x.part(k, half).wide(), 1.5 * 2.0**52, WIDE_PARTS)
            high = r.narrow()
            bits = x.builder.trunc(moved.bits(), high.bits().type)
            found.append((high, (r - high.wide() + low).narrow(), high.of_bits(bits)))
        return [one.beside(other).value for one, other in zip(*found, strict=True)]

    far = x.absolute().compare("oge", NEAR)
    merged = x.when_any(far, in_float64, [each.value for each in near])
    r, low, n = (Vector(x.builder, value, x.dtype) for value in merged)
    return r, low, n.bits()


def _quarter(x: Vector, more: int) -> Vector:
    """sin(x + more*pi/2)"""
    builder = x.builder
    r, _, n = _reduced(x)
    n = builder.add(n, x.integers(more)) if more else n
    z = r * r
    sine = (r * z).fused(z.polynomial(SHORT["sin"]), r)
    cosine = z.polynomial((1.0, -0.5, *SHORT["cos"]))
    odd = builder.icmp_signed("!=", builder.and_(n, x.integers(1)), x.integers(0))
    found = x.choose(odd, cosine, sine)
    turned = builder.shl(builder.and_(n, x.integers(2)), x.integers(SIGN))
    found = x.of_bits(builder.xor(found.bits(), turned))
    return found if more else x.where("oeq", 0.0, x, found)


def sin(x: Vector) -> Vector:
    return _quarter(x, 0)


def cos(x: Vector) -> Vector:
    return _quarter(x, 1)


def tan(x: Vector) -> Vector:
    builder = x.builder
    r, low, n = _reduced(x)
    z = r * r
    more = r * z * z.polynomial(TANGENT)
    rough = r + more
    t = r + low.fused(rough.fused(rough, 1.0), more)
    near = -t.inverse()
    odd = builder.icmp_signed("!=", builder.and_(n, x.integers(1)), x.integers(0))
    found = x.choose(odd, near.fused(near.fused(t, 1.0), near), t)
    return x.where("oeq", 0.0, x, found)


ANGLES: Final[Mapping[str, Formula]] = {"sin": sin, "cos": cos, "tan": tan}
