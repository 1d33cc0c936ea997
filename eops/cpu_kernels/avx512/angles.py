"""Sine and cosine of float32 on vectors of AVX-512, for |x| < 2^28.

    sin(x), cos(x)    +-sin(r) or +-cos(r),    x = n*pi/2 + r, |r| <= pi/4

Where all numbers of a vector are below NEAR, n*pi/2 is taken off in three parts of float32, of
which the first product is exact; else in two parts of float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from einderive.eops.cpu_kernels.avx512.registers import Formula, Vector
from einderive.eops.cpu_kernels.words.polynomials import SHORT

PARTS: Final = (1.5707963705062866, -4.371139000186241e-08, -1.7151245100059438e-15)
"""pi/2 in parts of float32."""
WIDE_PARTS: Final = (1.5707963267948966, 6.123233995736766e-17)
NEAR: Final = 2.0**17
SIGN: Final = 30
"""Bit 1 of an integer becomes the sign, this many bits further."""


def _taken_off(x: Vector, shift: float, parts: Sequence[float]) -> tuple[Vector, Vector]:
    """x - n*pi/2, and n, to which `shift` is added."""
    moved = x.fused(2 / math.pi, shift)
    n, r = moved - shift, x
    for part in parts:
        r = n.fused(-part, r)
    return r, moved


def _reduced(x: Vector) -> tuple[Vector, Any]:
    """r, and integers of which the last two bits are those of n."""
    r, moved = _taken_off(x, 1.5 * 2.0**23, PARTS)

    def in_float64() -> tuple[Any, Any]:
        half = x.lanes // 2
        (a, m), (b, n) = (
            _taken_off(x.part(k, half).wide(), 1.5 * 2.0**52, WIDE_PARTS) for k in (0, half)
        )
        some = r.part(0, half)
        both = [some.of_bits(x.builder.trunc(part.bits(), some.bits().type)) for part in (m, n)]
        return a.narrow().beside(b.narrow()).value, both[0].beside(both[1]).value

    far = x.absolute().compare("oge", NEAR)
    value, whole = x.when_any(far, in_float64, (r.value, moved.value))
    return Vector(x.builder, value, x.dtype), Vector(x.builder, whole, x.dtype).bits()


def _quarter(x: Vector, more: int) -> Vector:
    """sin(x + more*pi/2)"""
    builder = x.builder
    r, n = _reduced(x)
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


ANGLES: Final[Mapping[str, Formula]] = {"sin": sin, "cos": cos}
