"""The error function and what is made of it, for loops that vectorise.

    erfc(x)    e^(-x^2) * g(x)/(1 + 2x)     for x > 1/2; 1 - erf(x), 2 - erfc(-x) elsewhere
    erf(x)     x * p(x^2)                   for |x| <= 1; else 1 - erfc(|x|), with the sign of x;
               in float32 1 - e^(x*q(x))    for x > 0.96, which needs no division
    gelu(x)    x/2 * erfc(-x/sqrt(2))

g(x) = e^(x^2) * erfc(x) * (1 + 2x) lies between 1 and 1.3.  It is a polynomial in (x-a)/(x+a),
which interpolates at Chebyshev's nodes.  x^2 is rounded, so e^(-x^2) is corrected by what the
rounding lost.  In gelu's left tail the rounding of x/sqrt(2) counts x^2 times, as in torch's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from einderive.eops.cpu_kernels.words.elements import elements
from einderive.eops.cpu_kernels.words.machine import Written, absolute, compiled, fused, with_sign
from einderive.eops.cpu_kernels.words.polynomials import polynomial
from einderive.ta.listing import beside

DATA = beside(__name__)


class _Precision(NamedTuple):
    """`middle` is a, `most` the largest x at which erfc is not 0."""

    real: type
    middle: float
    tail: tuple[float, ...]
    near: tuple[float, ...]


_PRECISIONS: Final[Mapping[str, _Precision]] = {
    "float32": _Precision(np.float32, 3.0, **DATA["precisions"]["float32"]),
    "float64": _Precision(np.float64, 4.0, **DATA["precisions"]["float64"]),
}
EDGE: Final = 0.96
LONGEST: Final = 4.0
"""erf is 1 in float32 from here on."""
SLOPE: Final[tuple[float, ...]] = DATA["slope"]
"""log(erfc(x))/x for 0.9 <= x <= LONGEST."""
EXCESS: Final[tuple[float, ...]] = DATA["excess"]
"""erf(x)/x - 1 in x^2, for |x| <= EDGE."""
MOST: Final = 27.5
"""erfc is 0 from here on."""


@cache
def error_functions(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    form, exp = _PRECISIONS[dtype], elements(dtype)["exp"]
    real = form.real
    tail, near = polynomial(real, form.tail), polynomial(real, form.near)
    middle, most, half = real(form.middle), real(MOST), real(0.5)
    zero, one, two, root = real(0), real(1), real(2), real(-math.sqrt(0.5))

    @compiled
    def beyond(x: Any) -> Any:
        """erfc(|x|)"""
        t = absolute(x)
        t = most if t > most else t
        square = t * t
        lost = fused(t, t, -square)
        power = exp(-square)
        power = power - power * lost
        return power * tail((t - middle) / (t + middle)) / fused(two, t, one)

    @compiled
    def erfc(x: Any) -> Any:
        found = beyond(x)
        found = two - found if x < zero else found
        return one - x * near(x * x) if absolute(x) <= half else found

    @compiled
    def erf(x: Any) -> Any:
        far = one - beyond(x)
        far = -far if x < zero else far
        return x * near(x * x) if absolute(x) <= one else far

    longest, edge = real(LONGEST), real(EDGE)
    slope, excess = polynomial(real, SLOPE), polynomial(real, EXCESS)

    @compiled
    def short_erf(x: Any) -> Any:
        """Of float32."""
        t = absolute(x)
        t = longest if t > longest else t
        far = one - exp(t * slope(t))
        z = t * t
        return with_sign(far if t > edge else fused(excess(z), t, t), x)

    @compiled
    def gelu(x: Any) -> Any:
        return half * x * erfc(x * root)

    return {"erf": short_erf if dtype == "float32" else erf, "erfc": erfc, "gelu": gelu}
