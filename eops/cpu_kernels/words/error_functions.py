"""The error function and what is made of it, for loops that vectorise.

    erfc(x)    e^(-x^2) * p(u)/(x + a)     for x > 1/2, u = (x - a)/(x + a);
               (1 - x) - x*q(x^2)          for |x| <= 1/2; 2 - erfc(-x) elsewhere
    erf(x)     x + x*q(x^2)                for |x| <= 1; else 1 - erfc(|x|), with the sign of x;
               in float32 1 - e^(x*s(x))   for x > 0.96, which needs no division
    gelu(x)    x/2 * erfc(-x/sqrt(2))      likewise, by polynomials in x itself
    erfinv(x)  x + x*p(u)/q(u)             for |x| <= a = 27/32, u = a^2 - x^2;
               r - p(r)/q(r)               for x > a, r^2 = -log((1 - x)/2);
               in float32 x + x*p(x^2)     for |x| <= 3/4,
               r + r*q(r)                  for x > 3/4, r^2 = -log(1 - x^2)

Polynomials and quotients of polynomials interpolate at Chebyshev's nodes.  What is rounded and
counts is added again in the last sum: the digits that x^2, x + a, the quotient, r and its logarithm
lose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from einderive.eops.cpu_kernels.words.elements import (
    elements,
    long_logarithm,
    times_exponential,
)
from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    fused,
    root,
    with_sign,
)
from einderive.eops.cpu_kernels.words.polynomials import polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)


class _Precision(NamedTuple):
    """What the functions need for a precision.

    `middle` is a, from `most` on erfc(x) is 0, and `tail` is p: e^(x^2)*erfc(x)*(x + a) in u;
    `gelu_tail` is e^(x^2/2)*erfc(x/sqrt(2))/2*(x + a), likewise.  `excess` is erf(x)/x - 1 in x^2,
    `gelu_near` erf(x/sqrt(2))/x - 1.
    """

    middle: float
    most: float
    tail: tuple[float, ...]
    excess: tuple[float, ...]
    gelu_middle: float
    gelu_most: float
    gelu_tail: tuple[float, ...]
    gelu_near: tuple[float, ...]


_PRECISIONS: Final = {name: _Precision(**held) for name, held in DATA["precisions"].items()}
EDGE: Final = 0.96
LONGEST: Final = 4.0
"""erf is 1 in float32 from here on."""
SLOPE: Final[tuple[float, ...]] = DATA["slope"]
"""log(erfc(x))/x for 0.9 <= x <= LONGEST."""
GELU_EDGE: Final = 0.7
STEEP: Final = -0.62
"""p'(u)/p(u) of both tails, within a tenth: what u lost counts so many times."""
INVERSE_EDGE: Final = 27 / 32
INVERSE_MIDDLE: Final = 1.5
"""The quotient for x > INVERSE_EDGE is one in r - INVERSE_MIDDLE."""
SHORT_EDGE, SHORT_MIDDLE = 0.75, 2.5
"""In float32; q, and 1/(2r) within a tenth, are polynomials in r - SHORT_MIDDLE."""


@cache
def error_functions(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    form = _PRECISIONS[dtype]
    real: type = np.float32 if dtype == "float32" else np.float64
    excess = polynomial(real, form.excess)
    quotient, weighted = _quotient(real, form.middle, form.tail), times_exponential(dtype)
    most, zero, half, one, two = map(real, (form.most, 0, 0.5, 1, 2))

    @compiled
    def beyond(x: Any) -> Any:
        """erfc(|x|)"""
        t = absolute(x)
        t = most if t > most else t
        square = t * t
        c, d = quotient(t)
        return weighted(-square, fused(-t, t, square), c, d)

    @compiled
    def erfc(x: Any) -> Any:
        found = beyond(x)
        found = two - found if x < zero else found
        return fused(-x, excess(x * x), one - x) if absolute(x) <= half else found

    @compiled
    def erf(x: Any) -> Any:
        far = with_sign(one - beyond(x), x)
        return fused(x, excess(x * x), x) if absolute(x) <= one else far

    return {
        "erf": _short_erf(excess) if dtype == "float32" else erf,
        "erfc": erfc,
        "gelu": _gelu(dtype, form, real),
        "erfinv": _short_inverse() if dtype == "float32" else _inverse(),
    }


def _quotient(real: type, middle: float, coefficients: Sequence[float]) -> Written:
    """f(x) = c, d with c + d = p(u)/(x + a), u = (x - a)/(x + a), where c is that rounded."""
    a, one, slope, first = map(real, (middle, 1, STEEP, coefficients[0]))
    series = polynomial(real, coefficients[1:])

    @compiled
    def quotient(x: Any) -> Any:
        below, over = x + a, x - a
        inverse = one / below
        lost = fused(-inverse, x - (below - a), fused(-inverse, below, one))
        u = over * inverse
        more = fused(slope, fused(u, lost, fused(over, inverse, -u)), lost)
        rise = series(u)
        step = u * rise
        above = first + step
        under = fused(u, rise, -step) + (step - (above - first))
        c = above * inverse
        return c, fused(under, inverse, fused(c, more, fused(above, inverse, -c)))

    return quotient


def _short_erf(excess: Written) -> Written:
    """Of float32."""
    slope, exp = polynomial(np.float32, SLOPE), elements("float32")["exp"]
    longest, edge, one = np.float32(LONGEST), np.float32(EDGE), np.float32(1)

    @compiled
    def erf(x: Any) -> Any:
        t = absolute(x)
        t = longest if t > longest else t
        far = one - exp(t * slope(t))
        return with_sign(far if t > edge else fused(excess(t * t), t, t), x)

    return erf


def _gelu(dtype: str, form: _Precision, real: type) -> Written:
    quotient = _quotient(real, form.gelu_middle, form.gelu_tail)
    near, weighted = polynomial(real, form.gelu_near), times_exponential(dtype)
    most, edge, zero, half, one = map(real, (form.gelu_most, GELU_EDGE, 0, 0.5, 1))

    @compiled
    def gelu(x: Any) -> Any:
        t = absolute(x)
        far = t > most  # where the tail is 0: subnormal numbers on the way would take time
        t = one if far else t
        square = t * t
        c, d = quotient(t)
        w = c * t
        d = fused(d, t, fused(c, t, -w))
        tail = weighted(-half * square, half * fused(-t, t, square), w, d)  # |x|/2*erfc(|x|/sqrt 2)
        tail = zero if far else tail
        found = x - tail if x > zero else fused(zero, x, tail)  # NaN at -inf, as 0*inf is
        h = half * x
        centre = fused(h, fused(x, near(x * x), x), h)
        return with_sign(centre if absolute(x) <= edge else found, x)

    return gelu


def _short_inverse() -> Written:
    """erfinv, of float32.  1 - x^2 is rounded once, and what the root loses is added again."""
    short = DATA["inverse_short"]
    near, far, half = (polynomial(np.float32, short[name]) for name in ("near", "far", "half"))
    log = elements("float32")["log"]
    edge, middle, one = map(np.float32, (SHORT_EDGE, SHORT_MIDDLE, 1))
    infinity, nothing = np.float32(np.inf), np.float32(np.nan)

    @compiled
    def erfinv(x: Any) -> Any:
        y = absolute(x)
        centre = fused(y, near(y * y), y)
        square = -log(fused(-y, y, one))
        r = root(square)
        v = r - middle
        outside = fused(r, far(v), fused(-r, r, square) * half(v)) + r
        found = centre if y <= edge else outside
        found = infinity if y == one else found
        return with_sign(found if y <= one else nothing, x)

    return erfinv


def _inverse() -> Written:
    """erfinv, of float64."""
    parts, inverse = long_logarithm(), DATA["inverse"]
    above, below, far_above, far_below = (
        polynomial(np.float64, inverse[name])
        for name in ("near_above", "near_below", "far_above", "far_below")
    )

    @compiled
    def erfinv(x: Any) -> Any:
        y = absolute(x)
        far = y > INVERSE_EDGE
        high, low = parts(0.5 - 0.5 * y if far else 0.5)
        square = -(high + low)
        r = root(square)
        lost = fused(-r, r, square) - (low + (high + square))
        v = r - INVERSE_MIDDLE
        bottom, twice = far_below(v), 2.0 * r
        top = fused(lost, bottom, -twice * far_above(v))  # r + lost/(2r) is the root
        u = fused(-y, y, INVERSE_EDGE * INVERSE_EDGE)
        top = top if far else y * above(u)
        bottom = twice * bottom if far else below(u)
        found = (r if far else y) + top / bottom
        found = np.inf if y == 1.0 else found
        return with_sign(found if y <= 1.0 else np.nan, x)

    return erfinv
