"""Hyperbolic functions, their inverses and log1p of float32 on vectors of AVX-512.

    cosh(x)     e^|x|/2 + e^(-|x|)/2
    sinh(x)     e^|x|/2 - e^(-|x|)/2, or x + x^3*P(x^2) for |x| <= 1, with the sign of x

The inverses are log(1 + t):

    asinh(x)    t = |x| + x^2/(1 + sqrt(1 + x^2))       with the sign of x
    acosh(x)    t = d + sqrt(d*(2 + d)),  d = x - 1
    atanh(x)    t = 2|x|/(1 - |x|), and half of the logarithm, with the sign of x

t is a sum of two numbers.  For x > LARGE, the first two are log(x) + log(2).
"""

from __future__ import annotations

import math
from typing import Any

from einderive.eops.cpu_kernels.avx512.exponentials import fine
from einderive.eops.cpu_kernels.avx512.logarithms import beyond, parts
from einderive.eops.cpu_kernels.avx512.registers import Vector
from einderive.eops.cpu_kernels.words.polynomials import SHORT
from einderive.eops.cpu_kernels.words.short_elements import LOG2

LARGE = 2.0**30
TINY = 2.0**-60
"""Below, log(1 + x) rounds to x."""
MOST = 90.0
"""From here up, cosh is infinite."""


def _of_sum(t: Vector, low: Vector | float = 0.0, large: Vector | None = None) -> Vector:
    """log(1 + t + low); log(2*large) where this is LARGE."""
    u = t + 1.0
    near = u.inverse()
    lost = (t - (u - 1.0) + low) * near
    lost = lost.fused((-near).fused(u, 1.0), lost)
    twice: Any = None
    if large is not None:
        twice = large.compare("ogt", LARGE)
        u = u.choose(twice, large, u)
        lost = u.choose(twice, 0.0, lost)
    n, f = parts(u)
    if large is not None:
        n = n.choose(twice, n + 1.0, n)
    return n.fused(LOG2[0], f + n.fused(LOG2[1], beyond(f) + lost))


def _halves(x: Vector) -> tuple[Vector, Vector]:
    """e^|x|/2 and e^(-|x|)/2"""
    m, n = fine(x.absolute(), MOST)
    near = m.inverse()
    near = near.fused((-near).fused(m, 1.0), near)
    whole = n.rounded_down()
    return m.scaled(whole - 1.0), near.scaled(-whole - 1.0)


def cosh(x: Vector) -> Vector:
    above, below = _halves(x)
    return above + below


def sinh(x: Vector) -> Vector:
    above, below = _halves(x)
    y = x.absolute()
    z = y * y
    near = (y * z).fused(z.polynomial(SHORT["sinh"]), y)
    return y.where("ogt", 1.0, above - below, near).with_sign(x)


def _root(c: Vector) -> Vector:
    """sqrt(c) for c > 0; it takes a third of the time of the machine's own."""
    near = c.inverse_root()
    found = c * near
    return (-found).fused(found, c).fused(near * 0.5, found)


def log1p(x: Vector) -> Vector:
    """No subnormal number takes part: the processor takes 20 times as long for one."""
    tiny = x.absolute().compare("olt", TINY)
    found = _of_sum(x.choose(tiny, 0.0, x))
    found = x.where("oeq", math.inf, x, found)
    found = x.where("oeq", -1.0, -math.inf, found)
    return x.choose(tiny, x, found)


def asinh(x: Vector) -> Vector:
    y = x.absolute()
    c = y * y
    below = _root(c + 1.0) + 1.0
    near = below.inverse()
    near = near.fused((-near).fused(below, 1.0), near)
    more = c * near
    t = y + more
    return _of_sum(t, (y - t) + more, y).with_sign(x)


def acosh(x: Vector) -> Vector:
    d = x - 1.0
    s = _root(d.fused(d, d + d))
    t = d + s
    found = x.where("ogt", 1.0, _of_sum(t, (s - t) + d, x), math.nan)
    return x.where("oeq", 1.0, 0.0, found)


def atanh(x: Vector) -> Vector:
    y = x.absolute()
    d = y.same(1.0) - y
    near = d.inverse()
    near = near.fused((-near).fused(d, 1.0), near)
    twice = y + y
    t = twice * near
    lost = (-t).fused(d, twice) - t * ((y.same(1.0) - d) - y)
    found = _of_sum(t, lost * near) * 0.5
    return y.where("oeq", 1.0, math.inf, found).with_sign(x)
