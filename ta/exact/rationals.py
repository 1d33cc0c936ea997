"""The rationals with two infinities, as a field of the interpreter: exact, also in their order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt

from einderive.ta.exact.fields import MOST_EXPONENT, POISON, Array, Field, whole_value
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.expr import ROOTS
from einderive.ta.ir.node import Number, Reducer

Exact: TypeAlias = "Fraction | float"
"""A Fraction, an infinity, or POISON."""


def _add(left: Exact, right: Exact) -> Exact:
    if isinstance(left, Fraction):
        return left + right if isinstance(right, Fraction) else right
    return left if isinstance(right, Fraction) else left + right


def _multiply(left: Exact, right: Exact) -> Exact:
    if left == 0 or right == 0:
        return Fraction(0)
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    if left != left or right != right:
        return POISON
    return math.inf if (left > 0) == (right > 0) else -math.inf


def _power(base: Exact, exponent: int) -> Exact:
    if isinstance(base, Fraction):
        return base**exponent if base or exponent > 0 else POISON
    if base != base:
        return POISON
    if exponent < 0:
        return Fraction(0)
    return base if exponent % 2 else math.inf


def _apply(function: str, *args: Exact) -> Exact:
    known = FUNCTIONS[function]
    if known.picks and args[0] == args[0]:
        return args[1] if args[0] else args[2]
    if any(arg != arg for arg in args):
        return _of_poison(function) if len(args) == 1 else POISON
    if known.on_rationals is not None:
        result = known.on_rationals(*args)
        return result if isinstance(result, float) else Fraction(result)
    if not known.arity and not known.finite_at_numbers:
        return POISON
    value = whole_value(function, args[0]) if len(args) == 1 else None
    if value is not None:
        return value
    if function == "pow" and isinstance(exponent := args[1], Fraction):
        if exponent in ROOTS:
            return _apply(ROOTS[exponent], args[0])
        if exponent.denominator == 1 and -MOST_EXPONENT <= exponent <= MOST_EXPONENT:
            return _power(args[0], exponent.numerator) if exponent else Fraction(1)
    args = tuple(sorted(args)) if known.symmetric else args
    mixed = crc32(f"{function} {' '.join(map(str, args))}".encode())
    return Fraction(mixed % 199 - 99 or 100, mixed // 199 % 7 + 1)


def _of_poison(function: str) -> Exact:
    """The value where there is none, which in floating point is an infinity or NaN: known where the
    function does not tell them apart."""
    values = {whole_value(function, end) for end in (math.nan, math.inf, -math.inf)}
    value = values.pop()
    return POISON if values or value is None else value


def _best(order: int) -> Callable[[Exact, Exact], Exact]:
    choose = max if order > 0 else min
    return lambda left, right: POISON if left != left or right != right else choose(left, right)


_RING = {"sum": _add, "prod": _multiply}
_COMBINE: dict[Reducer, np.ufunc] = {
    name: np.frompyfunc(_RING.get(name) or _best(known.order), 2, 1)
    for name, known in REDUCERS.items()
}


def _as_exact(value: Any) -> Exact:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return value
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def _is_whole(value: Exact) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 1 << 62


_exact = np.frompyfunc(_as_exact, 1, 1)


def _objects(values: object) -> Array:
    return np.asarray(values, dtype=object)


@dataclass(frozen=True)
class ExactField(Field):
    """Rationals with both infinities, as objects: Fraction, float infinity or POISON (a NaN).

    0 * x = 0 for every x, as the constructors hold; inf - inf and 1/0 are POISON, which spreads
    except through a factor 0 and the branch of a select that is not taken.  A function with
    `pieces` or an `exact` value is evaluated exactly.
    """

    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)
    block: ClassVar[int] = 1 << 16
    knows_whole: ClassVar[bool] = True

    def constant(self, value: Number) -> Array:
        return _objects(value)

    def convert(self, values: npt.ArrayLike) -> Array:
        return _objects(_exact(_objects(values)))

    def whole(self, values: Array) -> tuple[Array, Array]:
        known = np.asarray(np.frompyfunc(_is_whole, 1, 1)(values), dtype=np.bool_)
        return np.where(known, values, 0).astype(np.int64), known

    def power(self, base: Array, exponent: int) -> Array:
        return _objects(np.frompyfunc(lambda x: _power(x, exponent), 1, 1)(base))

    def apply(self, function: str, *args: Array) -> Array:
        call = np.frompyfunc(lambda *values: _apply(function, *values), len(args), 1)
        return _objects(call(*args))

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        return _objects(_COMBINE[reducer](left, right))

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        for _ in range(axes):
            values = _objects(_COMBINE[reducer].reduce(values, axis=-1))
        return values

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        """Nonzero fractions of both signs, at most 12 in magnitude."""
        count = math.prod(shape)
        signs = generator.choice((-1, 1), count)
        above, below = generator.integers(1, 13, count), generator.integers(1, 4, count)
        result = np.empty(count, dtype=object)
        result[:] = [
            Fraction(int(s) * int(a), int(b)) for s, a, b in zip(signs, above, below, strict=True)
        ]
        return result.reshape(shape)

    def differs(self, left: Array, right: Array) -> Array:
        """Where the two differ.  POISON differs from nothing, because an identity over the
        rationals claims nothing there."""
        unequal = np.frompyfunc(lambda a, b: a == a and b == b and a != b, 2, 1)
        return np.asarray(unequal(left, right), dtype=bool)
