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

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from einderive.ta.exact.fields import Array, Field, whole_value
from einderive.ta.ir.node import Number, Reducer

NONE: Final = arb.nan()

ENCLOSURES: Final[dict[str, Callable[[arb], arb]]] = {
    "exp": arb.exp,
    "log": arb.log,
    "log1p": arb.log1p,
    "expm1": arb.expm1,
    "sqrt": arb.sqrt,
    "rsqrt": arb.rsqrt,
    "sin": arb.sin,
    "cos": arb.cos,
    "tanh": arb.tanh,
    "erf": arb.erf,
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "silu": lambda x: x / (1 + (-x).exp()),
    "gelu": lambda x: x / 2 * (-x / arb(2).sqrt()).erfc(),
    "softplus": lambda x: x.exp().log1p(),
    "abs": abs,
    "relu": lambda x: x.max(0),
    "sign": arb.sgn,
    "finite": lambda x: x,
}
"""For each function f, and finite X, a ball that holds f(x) for all x in X, or NaN."""


@dataclass(frozen=True)
class PreciseField(Field):
    """Balls (`arb`) at so many decimal digits, as objects."""

    digits: int = 50
    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)
    block: ClassVar[int] = 64  # each costs as much as thousands of others

    def constant(self, value: Number) -> Array:
        return self._each(_ball, value)

    def convert(self, values: npt.ArrayLike) -> Array:
        return self._each(_ball, np.asarray(values).astype(object))

    def power(self, base: Array, exponent: int) -> Array:
        return self._each(lambda ball: _power(ball, exponent), base)

    def apply(self, function: str, *args: Array) -> Array:
        if function in _PAIRS:
            return self._each(_PAIRS[function], *args)
        return self._each(lambda ball: _apply(function, ball), *args)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        return self._each(_PAIRS[reducer], left, right)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        flat = values.reshape(*values.shape[: values.ndim - axes], -1)
        with ctx.workdps(self.digits):
            reduced = np.frompyfunc(_PAIRS[reducer], 2, 1).reduce(flat, axis=-1)
        return np.asarray(reduced, dtype=object)

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return self.convert(generator.standard_normal(shape))

    def differs(self, left: Array, right: Array) -> Array:
        """Where the balls lie apart; NaN overlaps with everything."""
        return ~self._each(arb.overlaps, left, right).astype(bool)

    def _each(self, function: Callable[..., Any], *args: Any) -> Array:
        """The function at every position; it may leave flags of floating point behind."""
        with ctx.workdps(self.digits), np.errstate(all="ignore"):
            return np.asarray(np.frompyfunc(function, len(args), 1)(*args), dtype=object)


def _ball(value: Any) -> arb:
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


def _apply(function: str, arg: arb) -> arb:
    if arg.is_nan():  # Arb gives sign(NaN) the range of sign
        return NONE
    if arg.is_finite():
        return _settled(ENCLOSURES[function](arg))
    value = whole_value(function, float(arg))
    return NONE if value is None else _ball(value)


def _settled(result: arb) -> arb:
    """An infinity and a finite number add up to the infinity; all else that is not bounded is not
    known."""
    if result.is_finite():
        return result
    return result.mid() if result.rad().is_finite() else NONE


_PAIRS: Final[dict[str, Callable[[arb, arb], arb]]] = {
    "sum": _add,
    "prod": _multiply,
    "max": arb.max,
    "min": arb.min,
    "maximum": arb.max,
    "minimum": arb.min,
}
"""Reducers, and functions of two operands."""
