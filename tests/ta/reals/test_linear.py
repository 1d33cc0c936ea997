"""Linear inequalities: what a point satisfies is solvable, and what adds up to 0 > 0 is not."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from einderive.ta.reals.linear import ONE, Inequality, Variable, solvable

Row = dict[Variable, Fraction]


def row(random: Random, names: str) -> Row:
    chosen = [name for name in names if random.random() < 0.6] or [names[0]]
    return {n: Fraction(random.choice((-3, -2, -1, 1, 2, 3)), random.randint(1, 3)) for n in chosen}


def total(row: Row, point: dict[str, Fraction]) -> Fraction:
    return sum((c * point[str(v)] for v, c in row.items()), Fraction(0))


@pytest.mark.parametrize("seed", range(100))
def test_what_a_point_satisfies_is_solvable(seed: int) -> None:
    random = Random(seed)
    names = "abcde"[: random.randint(1, 5)]
    point = {name: Fraction(random.randint(-4, 4), random.randint(1, 3)) for name in names}
    found = []
    for _ in range(random.randint(1, 9)):
        left, strict = row(random, names), random.random() < 0.5
        slack = Fraction(random.randint(1 if strict else 0, 3))
        left[ONE] = slack - total(left, point)
        found.append(Inequality({v: c for v, c in left.items() if c}, strict))
    assert solvable(found)


@pytest.mark.parametrize("seed", range(100))
def test_what_adds_up_to_a_contradiction_is_not(seed: int) -> None:
    """The last row is minus a positive combination of the others, and a bit less, or strict."""
    random = Random(seed)
    names = "abcde"[: random.randint(1, 5)]
    rows = [row(random, names) | {ONE: Fraction(random.randint(1, 3))} for _ in range(4)]
    last: Row = {}
    for each in rows[: random.randint(1, 4)]:
        by = Fraction(random.randint(1, 4), random.randint(1, 3))
        for v, c in each.items():
            last[v] = last.get(v, Fraction(0)) - by * c
    strict = random.random() < 0.5
    if not strict:
        last[ONE] = last.get(ONE, Fraction(0)) - Fraction(1, 7)
    found = [Inequality({v: c for v, c in each.items() if c}, False) for each in rows]
    found.append(Inequality({v: c for v, c in last.items() if c}, strict))
    random.shuffle(found)
    assert not solvable(found)


def test_borders() -> None:
    x = {"x": Fraction(1)}
    opposite = {"x": Fraction(-1)}
    assert solvable([Inequality(x, False), Inequality(opposite, False)])
    assert not solvable([Inequality(x, True), Inequality(opposite, False)])
    assert not solvable([Inequality({}, True)])
    assert solvable([Inequality({}, False)])
