"""float64 with NaN for what has no value, as a field of the interpreter.

0*inf, inf - inf and what meets a NaN are NaN as IEEE 754 has them; so is what comes of a division
by 0 (1/0, log 0, rsqrt 0), which has no sign.  Overflow, and underflow of exponentials, say nothing
of a program: they raise Inexact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from einderive.ta.exact.fields import Array, ComplexField, RealField
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Reducer
from tests.fuzz.integers import Inexact

POLES = frozenset(
    (
        "log",
        "log2",
        "log10",
        "log1p",
        "rsqrt",
        "atanh",
        "erfinv",
        "lgamma",
        "digamma",
        "trigamma",
        "floor_divide",
    )
)
"""Functions that are infinite at some number."""
TAILS = frozenset(("exp", "exp2", "erfc"))
"""Functions that are 0 at no number, but for underflow."""
FAR = 1e6
"""Beyond it, the last digits of an operand decide on a sine."""
LEAST, SPREAD = 0.25, 1.0


@dataclass(frozen=True)
class FloatField(RealField):
    """Data are positive, away from 0, and moderate."""

    def add(self, left: Array, right: Array) -> Array:
        return _checked(super().add(left, right), left, right)

    def multiply(self, left: Array, right: Array) -> Array:
        return _checked(super().multiply(left, right), left, right)

    def power(self, base: Array, exponent: int) -> Array:
        if exponent < 0:
            base = np.where(base == 0, np.nan, base)
        return _checked(super().power(base, exponent), base)

    def apply(self, function: str, *args: Array) -> Array:
        found = super().apply(function, *args)
        if function in POLES:
            return np.where(np.isinf(found) & _finite(args), np.nan, found)
        if not args:
            return found
        if function in TAILS and (np.isfinite(args[0]) & (found == 0)).any():
            raise Inexact
        return _checked(found, *args)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        return _checked(super().combine(reducer, left, right), left, right)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        found = super().reduce(reducer, values, axes)
        if (
            reducer in ("sum", "prod")
            and (np.isinf(found) & np.isfinite(values).all(axis=tuple(range(-axes, 0)))).any()
        ):
            raise Inexact
        return found

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return LEAST + SPREAD * generator.random(shape)


class FiniteFunctions(FloatField):
    """A function asked outside of its domain, as rsqrt of a negative number, raises Inexact: the
    values of functions count as finite, so that what becomes of others says nothing of a step."""

    def apply(self, function: str, *args: Array) -> Array:
        found = RealField.apply(self, function, *args)
        if not FUNCTIONS[function].picks and (np.isnan(found) & _finite(args)).any():
            raise Inexact
        return super().apply(function, *args)


class RealsWithoutValue(RealField):
    """What has no value, as a power of 0 with a negative exponent or a function at its pole, has
    none in what is compared or chosen by it either: in IEEE arithmetic a comparison is 0 or 1,
    which hides the NaN of its operand."""

    def power(self, base: Array, exponent: int) -> Array:
        if exponent < 0:
            base = np.where(base == 0, np.nan, base)
        return super().power(base, exponent)

    def apply(self, function: str, *args: Array) -> Array:
        found = super().apply(function, *args)
        if FUNCTIONS[function].picks:
            return np.where(np.isnan(args[0]), np.nan, found)
        if function in POLES:
            return np.where(np.isinf(found) & _finite(args), np.nan, found)
        if not FUNCTIONS[function].truth:
            return found
        return np.where(
            np.any([np.isnan(arg) for arg in np.broadcast_arrays(*args)], 0), np.nan, found
        )


class ComplexWithoutValue(ComplexField):
    """What the rounding of its operand decides has no value: the sine of 10^14, say, or the
    exponential of a number with such an imaginary part.  For real numbers balls tell this."""

    def apply(self, function: str, *args: Array) -> Array:
        found = super().apply(function, *args)
        if function in ("sin", "cos", "tan"):
            return np.where(np.abs(args[0]) > FAR, np.nan, found)
        if function in ("exp", "exp2", "expm1", "sinh", "cosh", "tanh", "sigmoid"):
            return np.where(np.abs(np.imag(args[0])) > FAR, np.nan, found)
        return found


def _finite(args: Sequence[Array]) -> Array:
    return np.asarray(np.all([np.isfinite(arg) for arg in np.broadcast_arrays(*args)], axis=0))


def _checked(found: Array, *operands: Array) -> Array:
    """What was found, where no infinity in it comes of finite operands."""
    overflow = np.isinf(found)
    if overflow.any():
        for operand in operands:
            overflow = overflow & np.isfinite(operand)
        if overflow.any():
            raise Inexact
    return np.asarray(found)
