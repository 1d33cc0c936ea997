"""Whether a difference that float64 shows is one of real numbers: balls at many digits tell.

    tanh(30) == tanh(31)   1 in float64, where both are rounded to 1;   0 for the numbers

Two balls that are the same at 1200 digits are taken for one number: exp(a) == exp(b) where a and b
are the same data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from flint import arb

from einderive.ta.equality.balls import PreciseField
from einderive.ta.exact.fields import Array
from einderive.ta.exact.interp import evaluate
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Scope

DIGITS = (60, 1200)


class ComparedBalls(PreciseField):
    """Balls of which two that are the same, at the most digits, compare as equal."""

    def apply(self, function: str, *args: Array) -> Array:
        if self.digits == DIGITS[-1] and FUNCTIONS[function].truth and len(args) == 2:
            left, right = np.broadcast_arrays(*args)
            same = np.asarray(np.frompyfunc(_same, 2, 1)(left, right), dtype=bool)
            middle = np.frompyfunc(arb.mid, 1, 1)(left)
            args = np.where(same, middle, left), np.where(same, middle, right)
        return super().apply(function, *args)


def _same(left: arb, right: arb) -> bool:
    return bool(left.mid() == right.mid() and left.rad() == right.rad())


def really_differs(before: Scope, after: Scope, data: Mapping[str, Array]) -> Iterator[Array]:
    """Where the two scopes differ, or a ball is not known, at ever more digits; what float64 shows
    at any other point is rounding, or cannot be told from it."""
    for digits in DIGITS:
        field = ComparedBalls(digits)
        left, right = (
            evaluate(scope, {name: field.convert(values) for name, values in data.items()}, field)
            for scope in (before, after)
        )
        unknown = np.frompyfunc(lambda a, b: a.is_nan() or b.is_nan(), 2, 1)(left, right)
        yield field.differs(left, right) | np.asarray(unknown, dtype=bool)
