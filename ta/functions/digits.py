"""Functions of the binary digits of two integers.

They have a value at integers alone, whatever the type of the numbers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

END = 2.0**53
"""Greater floats have no digits for all integers."""


SHIFTS = {"lshift": 1, "rshift": -1}
MOST_SHIFTED = 4096


def of_digits(word: str, wrapping: Callable[[Any, Any], Any]) -> dict[str, Callable[..., Any]]:
    """The code of a function of the digits of two integers, by its name in `operator`.  `wrapping`
    computes it on 64-bit integers, as they wrap."""
    value, floats = getattr(operator, word), wrapping
    if word in SHIFTS:
        value, floats = _shifted(value), _shifted_floats(SHIFTS[word])
    exact = _of_integers(value)
    real = _of_whole_floats(floats, wrapping)
    return {"real": real, "exact": exact, "ball": _of_whole_balls(exact)}


def _shifted(shift: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    return lambda x, y: shift(x, y) if 0 <= y <= MOST_SHIFTED else None


def _shifted_floats(sign: int) -> Callable[[Any, Any], Any]:
    def value(x: Any, y: Any) -> Any:
        shifted = np.ldexp(x * 1.0, sign * np.minimum(y, MOST_SHIFTED))
        return np.where(y < 0, np.nan, np.floor(shifted))

    return value


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
