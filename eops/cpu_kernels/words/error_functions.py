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


class _Precision(NamedTuple):
    """`middle` is a, `most` the largest x at which erfc is not 0."""

    real: type
    middle: float
    tail: tuple[float, ...]
    near: tuple[float, ...]


_PRECISIONS: Final[Mapping[str, _Precision]] = {
    "float32": _Precision(
        np.float32,
        3.0,
        (
            1.2530080589921313,
            -0.13562110410543893,
            -0.047562369622764694,
            0.12964506749906465,
            -0.11927239065768135,
            0.06830928110515246,
            -0.02377841080522654,
            0.002521847267074418,
            0.0019108997051962414,
            -0.0007575843982653384,
            -0.00013393222123929773,
            9.29079334525794e-05,
            1.8559420994555307e-05,
        ),
        (
            1.1283791670615435,
            -0.3761263846802871,
            0.11283782495236845,
            -0.026865430727670243,
            0.005221031807858023,
            -0.0008484080405535107,
            0.00011265959025606609,
            -9.667044571486996e-06,
        ),
    ),
    "float64": _Precision(
        np.float64,
        4.0,
        (
            1.2329951186255526,
            -0.13962111684056253,
            0.015379652102620111,
            0.06809705425469303,
            -0.10103906603632955,
            0.09373283499833329,
            -0.06633036581154421,
            0.03716751553787908,
            -0.016197734067039865,
            0.005031969972225688,
            -0.0007577732147971718,
            -0.00019925664291065565,
            0.00015062131217624512,
            -2.4399505458525544e-05,
            -1.1220902504340601e-05,
            5.710769473216913e-06,
            2.916445562939141e-07,
            -8.277591913537945e-07,
            7.703495881102781e-08,
            1.1328048304274549e-07,
            -1.9106294487779176e-08,
            -1.660879467182853e-08,
            1.6868082625932292e-09,
            2.1031095817570338e-09,
            2.9111659955327447e-10,
        ),
        (
            1.1283791670955126,
            -0.3761263890318375,
            0.11283791670954879,
            -0.026866170645076792,
            0.0052239776248180145,
            -0.000854832698083379,
            0.0001205533111164271,
            -1.4925595266831182e-05,
            1.6461000484121368e-06,
            -1.6350312701054695e-07,
            1.4659775274047436e-08,
            -1.1372848856791674e-09,
            5.957176147748911e-11,
        ),
    ),
}
EDGE: Final = 0.96
LONGEST: Final = 4.0
"""erf is 1 in float32 from here on."""
SLOPE: Final = (
    -1.1286782097506054,
    -0.634984461977154,
    -0.1065846982487504,
    0.02411654353257285,
    -0.0038316244403915206,
    0.00037344780202408235,
    -1.6588684460636316e-05,
)
"""log(erfc(x))/x for 0.9 <= x <= LONGEST."""
EXCESS: Final = (
    0.12837916637039357,
    -0.37612631184221473,
    0.1128365692376854,
    -0.026857301677163395,
    0.005195947961834234,
    -0.000808645906432634,
    8.138705363383426e-05,
)
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
