"""Functions computed in float64, with the digits that the type of operand and result needs.

A float32 is converted, and the result is rounded once, so that no error counts but this rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einderive.eops.cpu_kernels.words.machine import Written, compiled
from einderive.eops.cpu_kernels.words.polynomials import COEFFICIENTS, polynomial


def series(name: str, dtype: str) -> Written:
    """The polynomial of this name, of float64."""
    return polynomial(np.float64, COEFFICIENTS[dtype][name])


def of_one(function: Written, dtype: str) -> Written:
    """A function of one float64 as one of the type."""
    if dtype == "float64":
        return function

    @compiled
    def narrow(x: Any) -> Any:
        return np.float32(function(np.float64(x)))

    return narrow


def of_two(function: Written, dtype: str) -> Written:
    """A function of two float64 as one of the type."""
    if dtype == "float64":
        return function

    @compiled
    def narrow(x: Any, y: Any) -> Any:
        return np.float32(function(np.float64(x), np.float64(y)))

    return narrow
