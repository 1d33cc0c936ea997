"""Programs with several max and min: what residues take for equal is equal on small integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from einderive.ta.equality.exp_law import ExponentialField
from einderive.ta.equality.signs import SignField
from einderive.ta.exact.fields import Array
from einderive.ta.ir.node import Reducer

Term = tuple[Any, ...]
"""("entry", i), ("number", n), or "max", "min", "sum", "product" and their operands."""

ENTRIES = 3
GENERATOR = np.random.default_rng(0)
WHOLE = np.concatenate([GENERATOR.integers(-h, h + 1, (80, ENTRIES)) for h in (2, 40)])
DRAWS = 3
MOST_TERMS = 60
PAIRS = 400


def term(random: Random, depth: int) -> Term:
    kinds = ["max", "max", "min", "sum", "product"] if depth else ["entry", "entry", "number"]
    kind = random.choice(kinds)
    if kind == "entry":
        return (kind, random.randrange(ENTRIES))
    if kind == "number":
        return (kind, random.choice((-1, 0, 2, 15)))
    count = random.randint(1, 3) if kind in ("max", "min") else 2
    operands = [term(random, depth - random.randint(1, depth)) for _ in range(count)]
    if kind in ("max", "min") and random.random() < 0.5:  # all maxima of mean 0 look alike
        operands += [minus(operand) for operand in operands]
    return (kind, *operands)


def size(whole: Term) -> int:
    return 1 + sum(size(part) for part in whole[1:] if isinstance(part, tuple))


def minus(operand: Term) -> Term:
    return ("product", ("number", -1), operand)


def changed(random: Random, whole: Term) -> Term:
    """Somewhere regrouped, or made another: often an equation, often one that is almost true."""
    kind, *operands = whole
    if kind in ("entry", "number"):
        return whole
    if random.random() < 0.5:
        place = random.randrange(len(operands))
        operands[place] = changed(random, operands[place])
        return (kind, *operands)
    half = operands[: len(operands) // 2]
    if kind in ("max", "min") and operands == [*half, *map(minus, half)] and random.random() < 0.3:
        return ("sum", *((kind, x, minus(x)) for x in half))
    random.shuffle(operands)
    nested = [operand for operand in operands if operand[0] in ("max", "min")]
    if kind in ("max", "min"):
        other = "min" if kind == "max" else "max"
        cut = random.randint(1, len(operands))
        first, second = (kind, *operands[:cut]), (kind, *operands[cut:])
        shift = term(random, 0)
        choices = [
            minus((other, *map(minus, operands))),
            ("sum", (kind, *(("sum", x, shift) for x in operands)), minus(shift)),
            (kind, *operands, operands[0]),
            (kind, *operands, *map(minus, operands)),
            ("sum", *operands),
            (kind, *(("product", ("number", 2), x) for x in operands)),
        ]
        if cut < len(operands):
            choices += [("sum", first, second), (kind, first, second)]
        if len(operands) == 2:
            choices.append(("sum", *operands, minus((other, *operands))))
        return random.choice(choices)
    if len(nested) == 2:
        (one, *left), (two, *right) = nested
        mixed = left + right
        random.shuffle(mixed)
        choices = [
            (kind, (two, *left), (one, *right)),
            (kind, (one, *mixed[: len(left)]), (two, *mixed[len(left) :])),
            (one, *left, *right),
            (one, *((kind, x, y) for x in left for y in right)),
        ]
        return random.choice(choices)
    return (kind, *operands)


def on_integers(whole: Term, values: Array) -> Array:
    kind, *operands = whole
    if kind == "entry":
        return values[:, operands[0]]
    if kind == "number":
        return np.full(len(values), operands[0])
    found = [on_integers(operand, values) for operand in operands]
    reduce = {"max": np.max, "min": np.min, "sum": np.sum, "product": np.prod}[kind]
    return np.asarray(reduce(np.array(found), axis=0))


def in_field(whole: Term, values: Array, field: SignField | ExponentialField) -> Array:
    kind, *operands = whole
    if kind == "entry":
        return np.asarray(values[:, operands[0]])
    if kind == "number":
        return np.broadcast_to(field.constant(Fraction(operands[0])), len(values))
    found = [in_field(operand, values, field) for operand in operands]
    reducers: dict[str, Reducer] = {"max": "max", "min": "min", "sum": "sum", "product": "prod"}
    return field.reduce(reducers[kind], np.stack(found, axis=-1), 1)


def counted(field: SignField | ExponentialField, pairs: int) -> Counter[tuple[bool, bool]]:
    """How many pairs are (taken for equal, equal on small integers)."""
    random, seen = Random(5), Counter[tuple[bool, bool]]()
    values = field.random((DRAWS, ENTRIES), np.random.default_rng(1))
    while sum(seen.values()) < pairs:
        left = term(random, random.randint(1, 2))
        right = left
        for _ in range(random.randint(1, 3)):
            right = changed(random, right) if size(right) <= MOST_TERMS else right
        if left != right and max(map(size, (left, right))) <= MOST_TERMS:
            differs = field.differs(*(in_field(side, values, field) for side in (left, right)))
            same = np.array_equal(*(on_integers(side, WHOLE) for side in (left, right)))
            seen[not differs.any(), same] += 1
    return seen


@pytest.mark.parametrize("field", [SignField(), ExponentialField()])
def test_maxima_that_are_taken_for_equal_are_equal(field: SignField | ExponentialField) -> None:
    seen = counted(field, PAIRS)
    assert seen[True, False] == 0
    assert seen[True, True] > 50
    assert seen[False, False] > 50


@dataclass(frozen=True)
class Additive(SignField):
    """With a sum over the elements in the place of one number for the multiset."""

    def extreme(
        self, reducer: Reducer, values: Array, keys: Array, left_out: Array, axes: int
    ) -> Array:
        parts = np.where(keys == 0, np.uint64(0), self.opaque("element", keys))
        total = self.reduce("sum", parts, axes)
        if reducer == "min":
            total = self.multiply(self.constant(Fraction(-1)), total)
        mean = self._mean(values, left_out, axes)
        return self.add(mean.reshape(total.shape), total)


def test_these_pairs_tell_a_stand_in_that_can_be_regrouped() -> None:
    assert counted(Additive(), PAIRS)[True, False] > 0


def in_any_order(values: Sequence[int], field: SignField) -> int:
    residues = field.convert(np.array(values))
    return int(field.reduce("max", residues, 1))


def test_the_stand_in_for_max() -> None:
    field = SignField()
    assert in_any_order([7], field) == 7
    assert in_any_order([7, 7, 7], field) == 7
    assert in_any_order([1, 5, 3], field) == in_any_order([3, 1, 5], field)
    assert in_any_order([11, 15, 13], field) == in_any_order([1, 5, 3], field) + 10
    assert in_any_order([2, 6], field) != in_any_order([2, 2, 6, 6], field)
    assert in_any_order([1, 5, 3], field) not in (1, 3, 5)
