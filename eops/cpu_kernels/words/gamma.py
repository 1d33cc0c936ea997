"""The logarithm of the gamma function and two derivatives of it, for x > 0.

lgamma(x)    polynomials about 1 and 2, which smaller and greater x are moved to; Stirling's series
digamma(x)   a quotient of polynomials between 1 and 2, likewise; its series in 1/x
trigamma(x)  its series in 1/x, for numbers from 10 on
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from einderive.eops.cpu_kernels.words.elements import elements
from einderive.eops.cpu_kernels.words.machine import Written, compiled
from einderive.eops.cpu_kernels.words.polynomials import polynomial
from einderive.eops.cpu_kernels.words.wide import of_one
from einderive.ta.functions import digamma, lgamma, trigamma


@cache
def gamma(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    known = {"lgamma": _lgamma(), "digamma": _digamma(), "trigamma": _trigamma()}
    return {name: of_one(of_number, dtype) for name, of_number in known.items()}


def _lgamma() -> Written:
    rows = (lgamma.ABOUT_ONE, lgamma.ABOUT_TWO, lgamma.STIRLING)
    about_one, about_two, stirling = (polynomial(np.float64, row) for row in rows)
    log, constant = elements("float64")["log"], lgamma.CONSTANT

    @compiled
    def of_one_number(x: Any) -> Any:
        y = x + 1.0 if x < 0.5 else x
        product = 1.0
        for _ in range(6):
            below = y - 1.0
            product = product * below if y > 2.5 else product
            y = below if y > 2.5 else y
        one, two = y - 1.0, y - 2.0
        near = one * about_one(2.0 * one) if y <= 1.5 else two * about_two(2.0 * two)
        near = near - log(x) if x < 0.5 else near + log(product)
        z = 1.0 / x
        far = (x - 0.5) * (log(x) - 1.0) + (constant + z * stirling(z * z))
        return near if x < 8.0 else far

    return of_one_number


def _digamma() -> Written:
    rows = (digamma.ABOVE, digamma.BELOW, digamma.SERIES)
    above, below, series = (polynomial(np.float64, row) for row in rows)
    log, root, rest, slope = elements("float64")["log"], digamma.ROOT, digamma.REST, digamma.SLOPE

    nothing = np.nan

    @compiled
    def of_one_number(x: Any) -> Any:
        y = x + 1.0 if x < 1.0 else x
        total = -1.0 / x if x < 1.0 else 0.0
        for _ in range(8):
            low = y - 1.0
            total = total + 1.0 / low if y > 2.0 else total
            y = low if y > 2.0 else y
        one = y - 1.0
        near = total + ((y - root) - rest) * (slope + above(one) / below(one))
        z = 1.0 / x
        far = log(x) - (0.5 * z + z * z * series(z * z))
        found = near if x < 10.0 else far
        return nothing if x < 0.0 else found

    return of_one_number


def _trigamma() -> Written:
    series, least, nothing = polynomial(np.float64, trigamma.SERIES), trigamma.FAR, np.nan

    @compiled
    def of_one_number(x: Any) -> Any:
        y = x
        total = 0.0
        for _ in range(10):
            near = y < least
            total = total + 1.0 / (y * y) if near else total
            y = y + 1.0 if near else y
        z = 1.0 / y
        found = total + (z + z * z * (0.5 + z * series(z * z)))
        return nothing if x < 0.0 else found

    return of_one_number
