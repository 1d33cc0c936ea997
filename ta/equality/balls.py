"""Real numbers as balls, a middle and a radius, at any number of digits.

    x in X, y in Y   =>   x + y in X + Y     x*y in X*Y     f(x) in f(X)
    X and Y do not overlap   =>   x and y are different numbers

Arb (F. Johansson, 2017; python-flint) rounds every radius up.  A difference that floating point
shows may be cancellation; a difference of balls that lie apart is real.  Where two balls overlap,
the digits do not suffice.

Arb's NaN stands for what has no value, or none that is known: 1/0, 1/inf, inf - inf, log(0), and a
ball of infinite radius.  What is computed from it is NaN, also max and a product with 0.
Infinities are exact, and 0*inf = 0.  Functions have the values at infinities that the notation
gives them: none for sin(inf), where Arb has the range of sin.

Arb's precision is one number for all threads.  Where another thread changes it, balls become wider
or narrower; they still hold the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from einderive.ta.exact.fields import Array, Field, flattened, whole_value
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.functions.data import Function, Pieces, combined
from einderive.ta.ir.node import Number, Reducer

NONE: Final = arb.nan()


@dataclass(frozen=True)
class PreciseField(Field):
    """The field of balls (`arb`) at a given number of decimal digits.  Arrays hold the balls as
    objects."""

    digits: int = 50
    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)
    block: ClassVar[int] = 64  # each costs as much as thousands of others
    ball: ClassVar[type[Any]] = arb

    def constant(self, value: Number) -> Array:
        return self._each(lambda x: self.ball(ball_of(x)), value)

    def convert(self, values: npt.ArrayLike) -> Array:
        return self._each(ball_of, np.asarray(values).astype(object))

    def power(self, base: Array, exponent: int) -> Array:
        return self._each(lambda ball: _power(ball, exponent), base)

    def apply(self, function: str, *args: Array) -> Array:
        return self._each(partial(applied, FUNCTIONS[function]), *args)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        return self._each(self._combination(reducer), left, right)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        flat = flattened(values, axes)
        with ctx.workdps(self.digits):
            reduced = np.frompyfunc(self._combination(reducer), 2, 1).reduce(flat, axis=-1)
        return np.asarray(reduced, dtype=object)

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return self.convert(generator.standard_normal(shape))

    def differs(self, left: Array, right: Array) -> Array:
        """Where the two balls lie apart.  A NaN overlaps with everything."""
        return ~self._each(self.ball.overlaps, left, right).astype(bool)

    def _combination(self, reducer: Reducer) -> Callable[[Any, Any], Any]:
        order = REDUCERS[reducer].order
        if not order:
            return _add if reducer == "sum" else _multiply
        return arb.max if order > 0 else arb.min

    def _each(self, function: Callable[..., Any], *args: Any) -> Array:
        """The function at every position; it may leave flags of floating point behind."""
        with ctx.workdps(self.digits), np.errstate(all="ignore"):
            return np.asarray(np.frompyfunc(function, len(args), 1)(*args), dtype=object)


def ball_of(value: Any) -> arb:
    """The ball of a number."""
    return arb(fmpq(value.numerator, value.denominator) if isinstance(value, Fraction) else value)


def _add(left: arb, right: arb) -> arb:
    return _settled(left + right)


def _multiply(left: arb, right: arb) -> arb:
    if (left.is_zero() and not right.is_nan()) or (right.is_zero() and not left.is_nan()):
        return arb(0)
    return _settled(left * right)


def _power(base: arb, exponent: int) -> arb:
    if base.is_finite():
        return _settled(base**exponent)
    if exponent < 0:
        return NONE
    return base if exponent % 2 else abs(base)


def applied(known: Function, *args: arb) -> arb:
    """The values for all numbers in the balls; none where they are not known."""
    if known.picks and known.ball is not None and (args[0] != 0 or args[0].is_zero()):
        found: arb = known.ball(*args)  # the one that is not taken does not count
        return found
    if any(arg.is_nan() for arg in args):  # Arb gives sign(NaN) the range of sign
        return NONE
    if known.pieces is not None:
        return _settled(_of_pieces(known.pieces, args))
    if not all(arg.is_finite() for arg in args):
        value = whole_value(known.name, float(args[0])) if len(args) == 1 else None
        return NONE if value is None else ball_of(value)
    return NONE if known.ball is None else _settled(known.ball(*args))


def _of_pieces(pieces: Pieces, args: Sequence[arb]) -> arb:
    """One piece where the sign of the gap is known; else a ball around both."""
    gap = combined(pieces.gap, args)
    above = arb(combined(pieces.above, args) + pieces.step)
    below = arb(combined(pieces.below, args) - pieces.step)
    if gap > 0 or gap < 0:
        return above if gap > 0 else below
    exactly = gap.is_zero() or gap.is_nan()  # two equal infinities
    return (above + below) / 2 if exactly else above.union(below)


def _settled(result: arb) -> arb:
    """An infinity and a finite number add up to the infinity; all else that is not bounded is not
    known."""
    if result.is_finite():
        return result
    return result.mid() if result.rad().is_finite() else NONE
