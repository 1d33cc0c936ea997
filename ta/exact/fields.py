"""The number domains in which the interpreter evaluates: residues, rationals, float64.

    ModularField(p)   integers modulo a 31-bit prime   decides identities of + * / on random data
    ExactField()      rationals with two infinities    also max, min and piecewise-linear functions
                      (in `ta.exact.rationals`)
    RealField()       float64                          functions at their real values
    ComplexField()    complex128                       likewise, and `1j`
    SignField(p)      residues with a sign, for functions that compare (in `ta.equality.signs`)
    ExponentialField  residues in which exp(a+b) = exp(a)*exp(b) holds (in `ta.equality.exp_law`)

A field computes on whole NumPy arrays.  A function such as exp is opaque in the first two: a fixed
pseudo-random value for each argument, so f(a) = f(b) follows from a = b only.  At 0 (and, for
rationals, at the infinities) it has its true value where that is a whole number, so exp(0) = 1 and
what keeps zero does so.  x^y is a power where y is a small integer, as the constructors have it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.expr import ROOTS
from einderive.ta.ir.node import Number, Reducer, Tensor

Array: TypeAlias = npt.NDArray[Any]

PRIMES: Final = (2147483647, 2147483629, 2147483587, 2147483579, 2147483563, 2147483549)
"""The six greatest primes below 2^31: a product of two residues fits 64 bits."""

MOST_EXPONENT: Final = 64
"""Powers with greater exponents that are no constants are opaque."""

_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)

POISON: Final = math.nan
"""The exact result of an operation that has none: 1/0, inf - inf, sqrt(-inf)."""


class Field(ABC):
    """Arithmetic on arrays of one number domain; arrays broadcast as in NumPy."""

    dtype: ClassVar[np.dtype[Any]]
    block: ClassVar[int] = 1 << 19
    """The number of elements of an iteration space in one block.  A block that fits into a cache is
    fastest."""
    knows_whole: ClassVar[bool] = False
    """Whether its numbers are real numbers, so that `whole` has a meaning."""

    @abstractmethod
    def constant(self, value: Number) -> Array:
        """The number as a 0-d array."""

    @abstractmethod
    def convert(self, values: npt.ArrayLike) -> Array:
        """The values as numbers of this field.  ValueError if the field has no such number."""

    def add(self, left: Array, right: Array) -> Array:
        return self.combine("sum", left, right)

    def multiply(self, left: Array, right: Array) -> Array:
        return self.combine("prod", left, right)

    @abstractmethod
    def power(self, base: Array, exponent: int) -> Array: ...

    @abstractmethod
    def apply(self, function: str, *args: Array) -> Array: ...

    @abstractmethod
    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        """The sum, the product, the greater or the lesser of the two, as the reducer says."""

    @abstractmethod
    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        """The reduction of the last `axes` axes, none of which is empty."""

    @abstractmethod
    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        """Data on which a false identity is unlikely to hold."""

    def differs(self, left: Array, right: Array) -> Array:
        """Where the two certainly differ, as an array of booleans: where they are unequal, unless
        a number of the field has an error or several forms."""
        return np.asarray(left != right)

    def whole(self, values: Array) -> tuple[Array, Array]:
        """Each value as an index, and whether it is a whole number below 2^62 in magnitude."""
        floats = np.asarray(values, dtype=np.float64)
        known = (np.abs(floats) < 2.0**62) & np.asarray(values == np.floor(floats), dtype=np.bool_)
        return np.where(known, floats, 0).astype(np.int64), known

    def identity(self, reducer: Reducer) -> Array:
        """The value of a reduction over an empty range."""
        return self.constant(REDUCERS[reducer].identity)


def rounded(value: Number) -> float:
    """The nearest float64.  Numbers beyond the largest become infinities."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def whole_value(function: str, argument: Fraction | float) -> Number | None:
    """f(x) at 0, an infinity or NaN, if it is a whole number, infinite or POISON, such as exp(-inf)
    = 0; else None."""
    if FUNCTIONS[function].arity != 1 or (argument and not isinstance(argument, float)):
        return None
    return _whole_value(function, float(argument))


@lru_cache
def _whole_value(function: str, argument: float) -> Number | None:
    with np.errstate(all="ignore"):
        result = float(FUNCTIONS[function].real(np.float64(argument)))
    if math.isinf(result):
        return result if math.isinf(argument) else POISON
    return POISON if math.isnan(result) else Fraction(result) if result.is_integer() else None


def _mixed(seed: int, *args: Array) -> Array:
    """A 64-bit mixture of the seed and of unsigned 64-bit arguments (multiply, xor, shift)."""
    state: Array = np.full((), seed, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for arg in args:
            state = (state ^ arg) * np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(29))) * np.uint64(0xD6E8FEB86659FD93)
            state = state ^ (state >> np.uint64(32))
    return state


def power_as_built(
    field: Field, found: Array, base: Array, exponent: Array, integers: Array
) -> Array:
    """x^y, `found` as a function of which nothing is known, where y is no number that the
    constructors know: x^n for an integer n, which is then one of `integers`, and roots for halves.
    """
    for n in np.unique(integers[np.abs(integers) <= MOST_EXPONENT]).tolist():
        found = np.where(exponent == field.constant(Fraction(n)), field.power(base, n), found)
    for half, root in ROOTS.items():
        if (at := np.asarray(exponent == field.constant(half))).any():
            found = np.where(at, field.apply(root, base), found)
    return found


@dataclass(frozen=True)
class ModularField(Field):
    """Integers modulo a 31-bit prime p, as unsigned 64-bit residues.

    1/0 is 0, so that division is total.  Order compares residues as the integers of
    (-p/2, p/2), and an infinity is the end of that interval: max and min are associative,
    commutative and idempotent, but no order law that involves + or * holds
    (max(a+c) = max(a)+c does not), nor does inf + c = inf.  Judge those in ExactField.
    """

    prime: int = PRIMES[0]
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)

    def constant(self, value: Number) -> Array:
        if isinstance(value, float):
            residue = self.prime // 2 + (0 if value > 0 else 1)
        elif value.denominator % self.prime == 0:
            raise ValueError(f"{value} has no residue modulo {self.prime}")
        else:
            residue = value.numerator * pow(value.denominator, -1, self.prime) % self.prime
        return np.full((), residue, dtype=np.uint64)

    def convert(self, values: npt.ArrayLike) -> Array:
        given = np.asarray(values)
        if given.dtype.kind not in "iub":
            raise ValueError(f"residues are integers, not {given.dtype}")
        if given.dtype.kind == "u":
            return self._residue(given.astype(np.uint64))
        return self._unsigned(given.astype(np.int64))

    def _residue(self, values: Array) -> Array:
        return np.asarray(values % np.uint64(self.prime))

    def power(self, base: Array, exponent: int) -> Array:
        if exponent < 0:
            base, exponent = self.power(base, self.prime - 2), -exponent
        result = np.ones_like(base)
        while exponent:
            if exponent & 1:
                result = self.multiply(result, base)
            exponent >>= 1
            base = self.multiply(base, base) if exponent else base
        return result

    def signed_residues(self, values: Array) -> Array:
        signed = values.astype(np.int64)
        return np.where(signed > self.prime // 2, signed - self.prime, signed)

    def _unsigned(self, values: Array) -> Array:
        return np.asarray(values % self.prime).astype(np.uint64)

    def apply(self, function: str, *args: Array) -> Array:
        known = FUNCTIONS[function]
        if known.pieces is not None:
            return self._unsigned(np.asarray(known.real(*map(self.signed_residues, args))))
        opaque = self.opaque(function, *args)
        at_zero = whole_value(function, Fraction(0)) if len(args) == 1 else None
        if isinstance(at_zero, Fraction):
            opaque = np.where(args[0] == 0, self.constant(at_zero), opaque)
        return opaque

    def opaque(self, name: str, *args: Array) -> Array:
        """A fixed pseudo-random residue for each name and its arguments.  For a symmetric function
        their order has no influence."""
        if len(args) == 2 and name in FUNCTIONS and FUNCTIONS[name].symmetric:
            args = (np.minimum(*args), np.maximum(*args))
        found = self._residue(_mixed(crc32(f"{name} {self.prime}".encode()), *args))
        if name == "pow" and len(args) == 2:
            return power_as_built(self, found, args[0], args[1], self.signed_residues(args[1]))
        return found

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        if reducer == "sum":
            return self._residue(left + right)
        if reducer == "prod":
            return self._residue(left * right)
        signed = REDUCERS[reducer].ufunc(self.signed_residues(left), self.signed_residues(right))
        return self._unsigned(np.asarray(signed))

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        last = tuple(range(values.ndim - axes, values.ndim))
        if reducer == "sum":  # 2^33 residues of 31 bits fit 64 bits
            return self._residue(np.asarray(np.sum(values, axis=last)))
        if reducer != "prod":
            return self._unsigned(
                REDUCERS[reducer].ufunc.reduce(self.signed_residues(values), axis=last)
            )
        return product_of(self.multiply, values, axes)

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return generator.integers(0, self.prime, shape, dtype=np.uint64)


def flattened(values: Array, axes: int) -> Array:
    """The values, their last axes as one."""
    return values.reshape(*values.shape[: values.ndim - axes], -1)


def product_of(multiply: Callable[[Array, Array], Array], values: Array, axes: int) -> Array:
    """The products over the last axes, by halving, with a reduction after each product."""
    flat = flattened(values, axes)
    while flat.shape[-1] > 1:
        half = flat.shape[-1] // 2
        paired = multiply(flat[..., :half], flat[..., half : 2 * half])
        flat = np.concatenate([paired, flat[..., 2 * half :]], axis=-1)
    return np.asarray(flat[..., 0])


class OrderedField(ModularField):
    """Residues whose max and min look at all their operands at once."""

    block: ClassVar[int] = 1 << 22

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        """The reduction of two numbers.  For max and min, the operands of the two numbers have no
        influence."""
        if not REDUCERS[reducer].order:
            return super().combine(reducer, left, right)
        return self.reduce(reducer, np.stack(np.broadcast_arrays(left, right), axis=-1), 1)


def pair(first: Array, second: Array | np.uint64) -> Array:
    """Two numbers below 2^32 as one of 64 bits; `halves` gives them back."""
    return np.asarray((first << _HALF) | second)


def halves(pairs: Array) -> tuple[Array, Array]:
    return pairs >> _HALF, pairs & _LOW


class NativeField(Field):
    """Numbers of a NumPy type, in NumPy's arithmetic."""

    def convert(self, values: npt.ArrayLike) -> Array:
        return np.asarray(values).astype(self.dtype, copy=False)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        return np.asarray(REDUCERS[reducer].ufunc(left, right))

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        return np.asarray(REDUCERS[reducer].ufunc.reduce(values, axis=tuple(range(-axes, 0))))


@dataclass(frozen=True)
class RealField(NativeField):
    """float64 as IEEE 754 has it, functions by their real definition.

    `differs` allows the relative error `tolerance`, against the larger of 1 and both magnitudes.
    """

    tolerance: float = 1e-9
    knows_whole: ClassVar[bool] = True
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)

    def constant(self, value: Number) -> Array:
        return np.full((), rounded(value), dtype=np.float64)

    def power(self, base: Array, exponent: int) -> Array:
        return (
            np.power(base, float(exponent)) if abs(exponent) > 2 else _small_power(base, exponent)
        )

    def apply(self, function: str, *args: Array) -> Array:
        return np.asarray(FUNCTIONS[function].real(*args), dtype=self.dtype)

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return generator.standard_normal(shape)

    def differs(self, left: Array, right: Array) -> Array:
        scale = np.maximum(1.0, np.maximum(np.abs(left), np.abs(right)))
        with np.errstate(invalid="ignore"):  # inf - inf: overflowed, so nothing is certain
            unequal = np.abs(left - right) > self.tolerance * scale
        return np.asarray((left != right) & unequal)


class ComplexField(RealField):
    """complex128, for formulas with `1j`; no data but what is given has an imaginary part."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.complex128)

    def apply(self, function: str, *args: Array) -> Array:
        known = FUNCTIONS[function]
        try:
            found = 1j if known.imaginary else known.real(*args)
        except TypeError:  # a function of real numbers alone
            real = np.logical_and.reduce([np.imag(arg) == 0 for arg in args])
            found = np.where(real, known.real(*map(np.real, args)), math.nan)
        return np.asarray(found, dtype=np.complex128)


def _small_power(base: Array, exponent: int) -> Array:
    square = base * base if abs(exponent) == 2 else base
    return 1.0 / square if exponent < 0 else square


def random_values(tensors: Iterable[Tensor], field: Field, seed: int = 0) -> dict[str, Array]:
    """Random data in the field for each tensor, by name; equal seeds give equal data, whatever
    other tensors there are."""
    return {
        tensor.name: field.random(
            tensor.shape, np.random.default_rng((seed, crc32(tensor.name.encode())))
        )
        for tensor in tensors
    }
