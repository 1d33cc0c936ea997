"""Integers and the two infinities in float64, as a field of the interpreter: exact or an error.

float64 holds every integer of magnitude below 2^53, so whole arrays are computed at once where
`ExactField` walks over fractions one by one.  Results outside of the integers, or as large, raise
Inexact; the caller then takes `ExactField`.  Infinities, 0 * x = 0 and POISON are as there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from einderive.ta.exact.fields import POISON, Array, Field, whole_value
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Function
from einderive.ta.ir.node import Number, Reducer

LIMIT = float(1 << 53)
MOST_INPUT = 60
"""Of the magnitude of random inputs: products of several stay far below LIMIT."""
MOST_OPAQUE = 50


class Inexact(ArithmeticError):
    """The value is no integer below 2^53, or was not computed as one."""


def _checked(values: Array) -> Array:
    """The values, all of which are integers below LIMIT, infinite or POISON."""
    sizes = np.abs(values)
    large = sizes >= LIMIT
    if large.any() and np.isfinite(sizes[large]).any():
        raise Inexact
    return values


def _finite_sizes(values: Array, instead: float) -> Array:
    return np.where(np.isfinite(values), np.abs(values), instead)


def _divided(known: Function, *args: Array) -> Array:
    """Of a function that divides; where the divisor is 0, there is no value."""
    if not all(np.isfinite(arg).all() for arg in args):
        raise Inexact
    with np.errstate(all="ignore"):
        found = np.asarray(known.real(*args), dtype=np.float64)
    return np.where(args[1] == 0, POISON, found)


@dataclass(frozen=True)
class IntegerField(Field):
    """Integers below 2^53 in magnitude with both infinities; functions are opaque integers."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)

    def constant(self, value: Number) -> Array:
        if isinstance(value, Fraction) and (value.denominator != 1 or abs(value) >= LIMIT):
            raise Inexact
        return np.full((), float(value), dtype=np.float64)

    def convert(self, values: npt.ArrayLike) -> Array:
        return np.asarray(values, dtype=np.float64)

    def add(self, left: Array, right: Array) -> Array:
        return _checked(np.asarray(left + right))

    def multiply(self, left: Array, right: Array) -> Array:
        product = np.where((left == 0) | (right == 0), 0.0, left * right)
        return _checked(product)

    def power(self, base: Array, exponent: int) -> Array:
        if exponent < 0:
            raise Inexact
        result = base
        for _ in range(exponent - 1):
            result = self.multiply(result, base)
        return result

    def apply(self, function: str, *args: Array) -> Array:
        known = FUNCTIONS[function]
        if not args:
            raise Inexact
        undefined = np.isnan(args[0])
        for arg in () if known.picks else args[1:]:
            undefined = undefined | np.isnan(arg)
        if known.divides and known.exact is not None:
            return _divided(known, *args)
        if known.pieces is not None or known.exact is not None:
            return np.where(undefined, POISON, np.asarray(known.real(*args), dtype=np.float64))
        if len(args) != 1:
            raise Inexact
        (arg,) = args
        mixed = np.where(np.isfinite(arg), arg, 0.0).astype(np.int64).astype(np.uint64)
        with np.errstate(over="ignore"):
            mixed = (mixed + np.uint64(crc32(function.encode()))) * np.uint64(0x9E3779B97F4A7C15)
        opaque = (mixed >> np.uint64(33)) % np.uint64(2 * MOST_OPAQUE)
        result = opaque.astype(np.float64) - MOST_OPAQUE
        for place in (0.0, np.inf, -np.inf):
            at = arg == place
            if at.any():
                value = whole_value(function, Fraction(0) if place == 0 else place)
                result = result if value is None else np.where(at, float(value), result)
        return np.where(undefined, POISON, result)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        if reducer == "sum":
            return self.add(left, right)
        if reducer == "prod":
            return self.multiply(left, right)
        return np.asarray((np.maximum if reducer == "max" else np.minimum)(left, right))

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        last = tuple(range(values.ndim - axes, values.ndim))
        if reducer == "max":
            return np.asarray(np.max(values, axis=last))
        if reducer == "min":
            return np.asarray(np.min(values, axis=last))
        if reducer == "sum":
            if (np.sum(_finite_sizes(values, 0.0), axis=last) >= LIMIT).any():
                raise Inexact
            return np.asarray(np.sum(values, axis=last))
        if (np.prod(np.maximum(_finite_sizes(values, 1.0), 1.0), axis=last) >= LIMIT).any():
            raise Inexact
        zero = (values == 0).any(axis=last)
        return np.where(zero, 0.0, np.prod(values, axis=last))

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        """Nonzero integers of both signs."""
        sizes = generator.integers(1, MOST_INPUT + 1, shape)
        return np.asarray(sizes * generator.choice((-1, 1), shape), dtype=np.float64)

    def differs(self, left: Array, right: Array) -> Array:
        """POISON differs from nothing, as in `ExactField`."""
        return np.asarray((left != right) & ~np.isnan(left) & ~np.isnan(right))
