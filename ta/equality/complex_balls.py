"""Complex numbers as balls: a rectangle for both parts, at any number of digits.

    x in X, y in Y   =>   x + y in X + Y     x*y in X*Y     f(x) in f(X)
    X and Y do not overlap   =>   x and y are different numbers

Functions have their principal values, as in NumPy and torch.  A function that
real numbers alone have is NaN here at others, which overlaps with everything, and so is every value
that is not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from flint import acb, arb

from einderive.ta.equality.balls import PreciseField, applied
from einderive.ta.exact.fields import Array
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Function
from einderive.ta.ir.node import Reducer

NONE: Final = acb(arb.nan())
_ALIKE = """
    exp expm1 exp2 log log1p log2 log10 sqrt rsqrt pow sigmoid silu sin cos tan sinh cosh tanh asin
    acos atan asinh acosh atanh
"""
ALIKE: Final = frozenset(_ALIKE.split())
"""Functions whose `ball` is a formula that gives the principal value of complex numbers, too."""


@dataclass(frozen=True)
class ComplexPreciseField(PreciseField):
    """The field of complex balls (`acb`) at a given number of decimal digits."""

    ball: ClassVar[type[Any]] = acb

    def convert(self, values: npt.ArrayLike) -> Array:
        return self._each(_ball, np.asarray(values).astype(object))

    def power(self, base: Array, exponent: int) -> Array:
        return self._each(lambda ball: _settled(ball**exponent), base)

    def apply(self, function: str, *args: Array) -> Array:
        known = FUNCTIONS[function]
        if known.imaginary:
            return self._each(lambda: acb(0, 1))
        if not known.arity:
            return self._each(lambda: NONE if known.ball is None else acb(known.ball()))
        value = known.complex_ball or (known.ball if function in ALIKE else None)
        if value is None:
            return self._each(lambda *balls: _of_reals(known, *balls), *args)
        return self._each(lambda *balls: _applied(value, *balls), *args)

    def _combination(self, reducer: Reducer) -> Callable[[acb, acb], acb]:
        if reducer not in ("sum", "prod"):
            return lambda x, y: NONE
        combine: Callable[[acb, acb], acb] = acb.__add__ if reducer == "sum" else acb.__mul__
        return lambda x, y: _settled(combine(x, y))


def _ball(value: Any) -> acb:
    return acb(float(value.real), float(value.imag))


def _applied(function: Any, *balls: acb) -> acb:
    return _settled(acb(function(*balls))) if all(b.is_finite() for b in balls) else NONE


def _of_reals(known: Function, *balls: acb) -> acb:
    """A function that real numbers alone have."""
    real = all(ball.imag.is_zero() for ball in balls)
    return _settled(acb(applied(known, *(ball.real for ball in balls)))) if real else NONE


def _settled(ball: acb) -> acb:
    return ball if ball.is_finite() else NONE
