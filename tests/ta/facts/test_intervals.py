"""Bounds of sums, products and others, beside the numbers that keep the operands' bounds."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import inf
from random import Random

import pytest

from einderive.ta.facts import intervals
from einderive.ta.facts.intervals import is_negative, is_nonzero, is_positive
from einderive.ta.ir.node import Bounds

POINTS = [Fraction(n, 2) for n in range(-5, 6)]
ENDS = [-inf, *map(Fraction, (-2, -1, 0, 1, 2)), inf]
EVERY = [
    Bounds(low, high, above, below, nonzero)
    for low, high in product(ENDS, repeat=2)
    for above, below, nonzero in product((False, True), repeat=3)
    if any(Bounds(low, high, above, below, nonzero).holds(x) for x in POINTS)
]
TWO: list[tuple[Callable[..., Bounds], Callable[..., Fraction]]] = [
    (intervals.plus, lambda a, b: a + b),
    (intervals.times, lambda a, b: a * b),
    (intervals.greater, max),
    (intervals.lesser, min),
    (intervals.either, lambda a, b: a),
    (intervals.either, lambda a, b: b),
]
ONE: list[tuple[Callable[[Bounds], Bounds], Callable[[Fraction], Fraction]]] = [
    (intervals.opposite, lambda a: -a),
    (intervals.magnitude, abs),
    (lambda x: intervals.scaled(x, Fraction(-3, 2)), lambda a: Fraction(-3, 2) * a),
    (lambda x: intervals.times(x, x), lambda a: a * a),
]


def points(bounds: Bounds) -> list[Fraction]:
    return [x for x in POINTS if bounds.holds(x)]


def test_the_bounds_hold_of_every_value() -> None:
    for x, y in Random(0).sample([*product(EVERY, repeat=2)], 500):
        for bounds_of, value in TWO:
            found = bounds_of(x, y)
            assert all(found.holds(value(a, b)) for a in points(x) for b in points(y)), (x, y)
    for x in EVERY:
        for of_one, value in ONE:
            assert all(of_one(x).holds(value(a)) for a in points(x)), x
        for known, holds in (
            (is_positive, lambda a: a > 0),
            (is_negative, lambda a: a < 0),
            (is_nonzero, lambda a: a != 0),
        ):
            assert not known(x) or all(map(holds, points(x))), x


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (intervals.plus(Bounds(1, 2, True), Bounds(3, 4)), Bounds(4, 6, True)),
        (intervals.times(Bounds(0, 1, below=True), Bounds(0, 1)), Bounds(0, 1, below=True)),
        (intervals.times(Bounds(-2, -1), Bounds(3, 4)), Bounds(-8, -3, nonzero=True)),
        (intervals.magnitude(Bounds(-1, 1, True, True)), Bounds(0, 1, below=True)),
        (intervals.greater(Bounds(0, 1, True), Bounds(-1, 2)), Bounds(0, 2, True)),
        (intervals.either(Bounds(0, 1, True), Bounds(2, 3)), Bounds(0, 3, True, False, True)),
    ],
)
def test_the_ends_are_no_further_than_needed(found: Bounds, expected: Bounds) -> None:
    assert found == expected


def test_what_is_positive_stays_so_where_its_digits_are_too_many() -> None:
    small = Bounds(Fraction(1, 3), Fraction(2, 3))
    for _ in range(12):
        small = intervals.times(small, small)
    assert is_positive(small)
    assert small.greatest == inf
