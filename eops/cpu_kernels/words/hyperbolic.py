"""Hyperbolic functions and their inverses, for loops that vectorise.

    sinh(x)    x + x^3*P(x^2) for |x| <= 1, else e^x/2 - e^(-x)/2
    cosh(x)    e^x/2 + e^(-x)/2                      e^x/2 as 2^(n-1)*e^r, which does not overflow
    asinh(x)   x + x^3*P(x^2) for |x| <= 1/2, else log(x + sqrt(x^2 + 1))
    acosh(x)   log(1 + t),  t = d + sqrt(d*(2 + d)),  d = x - 1
    atanh(x)   x + x^3*P(x^2) for |x| <= 1/2, else log(1 + 2x/(1 - x))/2

The operand of a logarithm is a sum of two numbers: log(h + l) = log(h) + l/h.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from einderive.eops.cpu_kernels.words.elements import elements
from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    fused,
    root,
    rounded_even,
    with_sign,
)
from einderive.eops.cpu_kernels.words.powers import LOG2_HIGH, LOG2_LOW, scaled_exponential
from einderive.eops.cpu_kernels.words.wide import of_one, series


@cache
def hyperbolic(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    scaled = scaled_exponential(dtype)
    sines, roots, arcs = (series(name, dtype) for name in ("sinh", "asinh", "atanh"))
    log, log1p = elements("float64")["log"], elements("float64")["log1p"]
    tiny, large = 2.0**-28, 2.0**30

    @compiled
    def half_exp(x: Any) -> Any:
        """e^x/2 for x >= 0"""
        y = 800.0 if x > 800.0 else x
        n = rounded_even(y * (1 / math.log(2)))
        return scaled(fused(n, -LOG2_LOW, fused(n, -LOG2_HIGH, y)), n - 1.0)

    @compiled
    def sinh(x: Any) -> Any:
        y = absolute(x)
        above, z = half_exp(y), y * y
        found = y + y * z * sines(z) if y <= 1.0 else above - 0.25 / above
        return x if y < tiny else with_sign(found, x) if x == x else x

    @compiled
    def cosh(x: Any) -> Any:
        above = half_exp(absolute(x))
        return above + 0.25 / above if x == x else x

    @compiled
    def asinh(x: Any) -> Any:
        y = absolute(x)
        z = y * y
        c = z + 1.0
        lost = fused(y, y, -z) + (z - (c - 1.0) if z < 1.0 else 1.0 - (c - z))
        r = root(c)
        r_low = (fused(-r, r, c) + lost) / (2.0 * r)
        total = r + y
        found = log(total) + ((r - total) + y + r_low) / total
        found = log(y) + math.log(2) if y > large else found
        found = y + y * z * roots(z) if y <= 0.5 else found
        return x if y < tiny else with_sign(found, x)

    @compiled
    def acosh(x: Any) -> Any:
        d = x - 1.0
        c = d * (2.0 + d)
        lost = fused(d, 2.0 + d, -c)
        r = root(c)
        r_low = (fused(-r, r, c) + lost) / (2.0 * r) if d > 0.0 else 0.0
        high, low = (r, d) if r > d else (d, r)
        total = high + low
        found = log1p(total) + ((high - total) + low + r_low) / (1.0 + total)
        found = log(x) + math.log(2) if x > large else found
        return found if x >= 1.0 else math.nan

    @compiled
    def atanh(x: Any) -> Any:
        y = absolute(x)
        z = y * y
        found = y + y * z * arcs(z) if y <= 0.5 else 0.5 * log1p(2.0 * y / (1.0 - y))
        return x if y < tiny else with_sign(found, x)

    found = {"sinh": sinh, "cosh": cosh, "asinh": asinh, "acosh": acosh, "atanh": atanh}
    return {name: of_one(function, dtype) for name, function in found.items()}
