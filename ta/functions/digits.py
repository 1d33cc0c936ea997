"""Functions of the binary digits of two integers.

They have a value at integers alone, whatever the type of the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

END = 2.0**53
"""Greater floats have no digits for all integers."""


def of_digits(
    value: Callable[[int, int], int | None],
    wrapping: Callable[[Any, Any], Any],
    floats: Callable[[Any, Any], Any] | None = None,
) -> dict[str, Callable[..., Any]]:
    """The code of a function of the digits of two integers: `value`, if it exists.  `wrapping`
    computes it on 64-bit integers, as they wrap; `floats` on integers that come as floats, if
    `wrapping` does not."""
    exact = _of_integers(value)
    real = _of_whole_floats(floats or wrapping, wrapping)
    return {"real": real, "exact": exact, "ball": _of_whole_balls(exact)}


def _of_integers(value: Callable[[int, int], int | None]) -> Callable[..., Any]:
    """The value if both operands are integers and it exists; else NaN."""

    def exact(x: Any, y: Any) -> Any:
        if isinstance(x, float) or isinstance(y, float) or x.denominator * y.denominator != 1:
            return math.nan
        found = value(int(x), int(y))
        return math.nan if found is None else Fraction(found)

    return exact


def _of_whole_floats(
    value: Callable[[Any, Any], Any], wrapping: Callable[[Any, Any], Any]
) -> Callable[..., Any]:
    """The value of floats if both are integers, else NaN; of 64-bit integers, as they wrap."""

    def real(x: Any, y: Any) -> Any:
        if np.asarray(x).dtype.kind in "iu" and np.asarray(y).dtype.kind in "iu":
            return wrapping(x, y)
        known = (np.floor(x) == x) & (np.floor(y) == y) & (np.abs(x) < END) & (np.abs(y) < END)
        both = (np.where(known, each, 0).astype(np.int64) for each in (x, y))
        return np.where(known, value(*both), math.nan)

    return real


def _of_whole_balls(exact: Callable[..., Any]) -> Callable[..., Any]:
    """On balls: the value if both hold one integer alone; else none."""

    def value(x: Any, y: Any) -> Any:
        if not (x.is_exact() and y.is_exact() and x.is_integer() and y.is_integer()):
            return type(x).nan()
        found = exact(*(Fraction(int(each.unique_fmpz())) for each in (x, y)))
        return type(x)(int(found)) if found == found else type(x).nan()

    return value
