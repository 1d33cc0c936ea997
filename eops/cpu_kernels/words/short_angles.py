"""Angles of float32 that need no float64, for loops that vectorise.

    asin(x)        x + x^3*P(x^2) for |x| <= NEAR, else pi/2 - 2*asin(sqrt((1-|x|)/2))
    acos(x)        pi/2 - asin(x) for |x| <= NEAR, else 2*asin(sqrt((1-x)/2)), with pi for x < 0
    atan(x)        the angle between x and one of 0, 1 and infinity, and that one's
    atan2(y, x)    0, pi/2 or pi, and plus or minus t + t^3*P(t^2), t the smaller number over the
                   larger one

The polynomials interpolate at Chebyshev's nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    fused,
    root,
    with_sign,
)
from einderive.eops.cpu_kernels.words.polynomials import SHORT, polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)

ARC: Final[tuple[float, ...]] = DATA["arc"]
"""(asin(x)/x - 1)/x^2 in x^2, for |x| <= NEAR."""
NEAR: Final = 0.56
SLOPE: Final[tuple[float, ...]] = DATA["slope"]
"""(atan(t)/t - 1)/t^2 in t^2, for |t| <= 1."""


def arcs() -> Mapping[str, Written]:
    """The functions by their names in the notation."""
    f32 = np.float32
    sines, angles, slopes = (
        polynomial(f32, ARC),
        polynomial(f32, SHORT["atan"]),
        polynomial(f32, SLOPE),
    )
    zero, one, half, two, near = f32(0), f32(1), f32(0.5), f32(2), f32(NEAR)
    half_pi, quarter, whole_pi = f32(math.pi / 2), f32(math.pi / 4), f32(math.pi)
    rest = f32(math.pi / 2 - float(half_pi))
    above, middle = f32(1 + math.sqrt(2)), f32(math.sqrt(2) - 1)
    bits = machine.BITS["float32"]

    @compiled
    def asin(x: Any) -> Any:
        y = absolute(x)
        far = y > near
        z = half * (one - y) if far else y * y
        s = root(z) if far else y
        found = fused(sines(z), s * z, s)
        return with_sign(half_pi - (two * found - rest) if far else found, x)

    @compiled
    def acos(x: Any) -> Any:
        y = absolute(x)
        far = y > near
        z = half * (one - y) if far else y * y
        s = root(z) if far else x
        found = fused(sines(z), s * z, s)
        twice = two * found
        beyond = whole_pi - (twice - two * rest) if x < zero else twice
        return beyond if far else half_pi - (found - rest)

    @compiled
    def atan(x: Any) -> Any:
        y = absolute(x)
        high, low = y > above, y > middle
        q = (-one if high else y - one if low else y) / (y if high else y + one if low else one)
        first = half_pi if high else quarter if low else zero
        lost = rest if high else half * rest if low else zero
        z = q * q
        return with_sign(first + (q + fused(angles(z), q * z, lost)), x)

    @compiled
    def atan2(y: Any, x: Any) -> Any:
        up, across = absolute(y), absolute(x)
        steep, left = up > across, bits(x) < 0
        less, more = (across, up) if steep else (up, across)
        t = one if less == more else less / more
        t = zero if less == zero else t
        z = t * t
        found = fused(slopes(z), t * z, t)
        turns = steep != left
        found = -found if turns else found
        first = half_pi if steep else whole_pi if left else zero
        lost = rest if steep else two * rest if left else zero
        found = first + (found + lost)
        return with_sign(found, y) if (x == x) & (y == y) else x + y

    return {"asin": asin, "acos": acos, "atan": atan, "atan2": atan2}
