"""Differences of two programs in numbers that a reader knows: rationals, and float64 if confirmed.

A counterexample lies where both sides have values: no divisor is 0 there, nor is inf - inf met, not
even in a product with 0.  What floating point shows is computed again with balls
(`ta.equality.balls`), at more and more digits: cancellation is no difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from einderive.ta.equality.balls import PreciseField
from einderive.ta.equality.complex_balls import ComplexPreciseField
from einderive.ta.equality.partial_values import ValuedField, bare
from einderive.ta.exact.blocks import unflat
from einderive.ta.exact.fields import POISON, Array, Field, RealField, random_values
from einderive.ta.exact.interp import Values, evaluate, evaluate_at, input_tensors, visited
from einderive.ta.exact.rationals import ExactField
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir.node import Access, Const, Reducer, Scope, Tensor
from einderive.ta.ir.subst import every_term

Roots: TypeAlias = Sequence[Scope]

ROUNDING: Final = 1e-6
"""A relative difference in floating point counts only if it is larger than this."""
DIGITS: Final = (50, 100, 400)
"""Digits of the balls: if one precision does not decide, the next one is tried."""
MOST_PRECISE: Final = 50_000
"""A position with more iteration points than this is not computed with balls."""
MOST_TRIED: Final = 8
"""At most this many positions where floating point shows a difference are computed with balls."""
MOST_SPIKES: Final = 256
"""At most this many entries are made the greatest and the least, one after the other."""
MOST_WHOLE: Final = 1 << 62
"""Whole entries are drawn as 64-bit integers."""


class Found(NamedTuple):
    """Output number `output` differs at `point`; `apart` says by how much if floating point does
    not show it."""

    output: int
    point: tuple[int, ...]
    left: object
    right: object
    field: Field
    apart: str = ""


@dataclass(frozen=True)
class StrictField(ExactField):
    """The rationals, but 0 times something without a value has no value, and neither has 1/inf
    (else inf/inf would be 0*inf)."""

    def power(self, base: Array, exponent: int) -> Array:
        result = super().power(base, exponent)
        if exponent > 0:
            return result
        infinite = np.asarray(abs(base) == math.inf, dtype=bool)
        return np.where(infinite, POISON, result).astype(object)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        none = (_valueless(left) | _valueless(right)) & (reducer == "prod")
        return np.where(none, POISON, super().combine(reducer, left, right)).astype(object)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        none = np.any(_valueless(values), axis=tuple(range(-axes, 0))) & (reducer == "prod")
        return np.where(none, POISON, super().reduce(reducer, values, axes)).astype(object)


def _valueless(values: Array) -> Array:
    return np.asarray(values != values, dtype=bool)


@dataclass(frozen=True)
class SidedField(RealField):
    """float64 with entries of one sign: sqrt and log have values at positive entries, and sqrt(a^2)
    differs from a at negative ones."""

    side: int = 1

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return self.side * (np.abs(generator.standard_normal(shape)) + 0.125)


@dataclass(frozen=True)
class WholeField(StrictField):
    """The rationals, with whole entries from `low` to `high`."""

    low: int = -1
    high: int = 1

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return self.convert(generator.integers(self.low, self.high + 1, shape))


def exact_fields(*roots: Scope) -> tuple[Field, ...]:
    """The rationals with entries of several magnitudes and signs: ties, halves and thirds, and
    numbers near and far beyond the programs' constants."""
    reach = 2 + sum(map(math.ceil, _constants(*roots)))
    near, far = min(4 * reach, MOST_WHOLE), min(64 * reach * reach, MOST_WHOLE)
    bounds = ((-1, 1), (-near, near), (-far, far), (1, far), (-far, -1))
    return (StrictField(), *(WholeField(low, high) for low, high in bounds))


def real_fields() -> tuple[Field, ...]:
    """float64 with entries of both signs, then with positive ones, then with negative ones."""
    return (RealField(ROUNDING), SidedField(ROUNDING), SidedField(ROUNDING, -1))


def first_difference(
    left: Roots, right: Roots, data: Mapping[str, Array], field: Field
) -> Found | None:
    """The first output and position at which both sides have values on these data and the values
    differ."""
    field = StrictField() if type(field) is ExactField else field
    for output, (x, y) in enumerate(zip(left, right, strict=True)):
        if x is not y:
            values = (evaluate(side, data, field).reshape(-1) for side in (x, y))
            found = difference((x, y), [*values], data, field)
            if found is not None:
                return found._replace(output=output)
    return None


def difference(
    sides: tuple[Scope, ...],
    values: Sequence[Array],
    data: Mapping[str, Values],
    field: Field,
    points: Array | None = None,
) -> Found | None:
    """The first position at which the given values of both sides differ: of the whole box, or of
    these points."""
    (x, y), real = sides, isinstance(field, RealField)
    places = np.flatnonzero(field.differs(*values))
    for place in map(int, places[: MOST_TRIED if real else 1]):
        point = position(x, place) if points is None else tuple(map(int, points[place]))
        if not real or confirmed(x, y, point, data):
            a, b = (number(side[place], field) for side in values)
            return Found(0, point, a, b, plain(field))
    return None


def difference_at(
    sides: tuple[Scope, ...], points: npt.ArrayLike, data: Mapping[str, Values], field: Field
) -> Found | None:
    """The first of the points at which both sides have values that differ."""
    places = np.asarray(points)
    values = [evaluate_at(side, places, data, field) for side in sides]
    return difference(sides, values, data, field, places)


def plain(field: Field) -> Field:
    """The field without marks."""
    return field.inner if isinstance(field, ValuedField) else field


def number(value: Any, field: Field) -> Any:
    """A field's number without marks."""
    return bare(value) if isinstance(field, ValuedField) else value


def position(scope: Scope, place: int) -> tuple[int, ...]:
    """The point of a place in the scope's flat box."""
    return tuple(unflat(scope, np.array([place]))[0].tolist())


def confirmed(x: Scope, y: Scope, point: tuple[int, ...], data: Mapping[str, Values]) -> bool:
    """Whether both sides have values at the point that are certainly different."""
    if visited((x, y), 1) > MOST_PRECISE:
        return False
    at = np.array(point, dtype=np.int64).reshape(1, len(point))
    complex_numbers = any(map(may_be_complex, (x, y)))
    for digits in DIGITS:
        field = ComplexPreciseField(digits) if complex_numbers else PreciseField(digits)
        values = [evaluate_at(side, at, data, field) for side in (x, y)]
        if field.differs(*values)[0]:
            return True
    return False


def spiked(left: Roots, right: Roots) -> Found | None:
    """Data in which each entry in turn is far above, then far below all others: a max or min then
    shows that entry."""
    field = StrictField()
    tensors: dict[str, Tensor] = {t.name: t for t in input_tensors(*left, *right)}
    if sum(t.size for t in tensors.values()) > MOST_SPIKES:
        return None
    data = {n: v.astype(object) for n, v in random_values(tensors.values(), field, 0).items()}
    for values in data.values():
        flat = values.reshape(-1)
        for place in range(flat.size):
            before = flat[place]
            for spike in (1_000_000, -1_000_000):
                flat[place] = Fraction(spike)
                found = first_difference(left, right, data, field)
                if found is not None:
                    return found
            flat[place] = before
    return None


def _constants(*roots: Scope) -> set[Fraction]:
    values = set()
    for node in every_term(*roots):
        value = node.value if isinstance(node, Const) else None
        value = node.fill if isinstance(node, Access) else value
        if isinstance(value, Fraction):
            values.add(abs(value))
    return values
