"""Index rows against Python's integers, point by point."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from tests.strategies import Raw, boxes, build_row, raw_rows, row_value, rows

COUNT = 3
BOX = tuple(product(range(-5, 6, 2), range(-3, 8, 5), (-7, 0, 4)))
DIVISORS = st.integers(1, 6)
OPEN_BOXES = boxes(COUNT, min_sides=COUNT, max_extent=6)


def at(row: Row, point: tuple[int, ...]) -> int:
    return affine.evaluate(row, point.__getitem__)


def points(box: tuple[Range, ...]) -> list[tuple[int, ...]]:
    return list(product(*(range(*side) for side in box)))


@given(raw_rows(COUNT, depth=3))
def test_a_built_row_has_the_value_of_its_tree(raw: Raw):
    row = build_row(raw)
    assert all(at(row, point) == row_value(raw, point) for point in BOX)


@given(rows(COUNT), rows(COUNT), st.integers(-3, 3))
def test_add_scale_shift(left: Row, right: Row, factor: int):
    total = affine.add(left, right, factor)
    scaled, shifted = affine.scale(left, factor), affine.shift(left, factor)
    for point in BOX:
        assert at(total, point) == at(left, point) + factor * at(right, point)
        assert at(scaled, point) == factor * at(left, point)
        assert at(shifted, point) == at(left, point) + factor


@given(rows(COUNT), rows(COUNT))
def test_addition_is_canonical(left: Row, right: Row):
    assert affine.add(left, right) == affine.add(right, left)
    assert affine.add(affine.add(left, right), right, -1) == left
    assert affine.add(left, left, -1) == affine.ZERO


@given(rows(COUNT), DIVISORS)
def test_division_with_remainder(row: Row, divisor: int):
    quotient, rest = affine.floordiv(row, divisor), affine.modulo(row, divisor)
    for point in BOX:
        assert (at(quotient, point), at(rest, point)) == divmod(at(row, point), divisor)


@pytest.mark.parametrize("divisor", [0, -2])
def test_only_positive_divisors(divisor: int):
    with pytest.raises(ValueError, match="positive"):
        affine.floordiv(affine.iterator(0), divisor)


@given(rows(COUNT), st.tuples(rows(COUNT), rows(COUNT), rows(COUNT)))
def test_substitute_composes(row: Row, replacement: tuple[Row, ...]):
    composed = affine.substitute(row, replacement)
    for point in BOX:
        inner = tuple(at(component, point) for component in replacement)
        assert at(composed, point) == at(row, inner)


@given(rows(COUNT), st.permutations(range(COUNT)))
def test_rename_permutes(row: Row, positions: list[int]):
    renamed = affine.rename(row, positions)
    assert renamed == affine.substitute(row, [affine.iterator(p) for p in positions])
    assert affine.iterators(renamed) == {positions[i] for i in affine.iterators(row)}


@given(rows(COUNT, depth=3), OPEN_BOXES)
def test_bounds_contain_every_value(row: Row, box: tuple[Range, ...]):
    low, high = affine.bounds(row, box)
    values = [at(row, point) for point in points(box)]
    assert low <= min(values)
    assert max(values) <= high


@given(rows(COUNT, floors=False), OPEN_BOXES)
def test_bounds_of_affine_rows_are_attained(row: Row, box: tuple[Range, ...]):
    values = [at(row, point) for point in points(box)]
    assert affine.bounds(row, box) == (min(values), max(values))


@given(rows(COUNT, depth=3), OPEN_BOXES)
def test_simplify_keeps_every_value_of_the_box(row: Row, box: tuple[Range, ...]):
    simple = affine.simplify(row, box)
    assert all(at(simple, point) == at(row, point) for point in points(box))


X, Y = affine.iterator(0), affine.iterator(1)


@given(
    st.integers(2, 4), st.integers(1, 3), st.integers(2, 3), st.integers(-3, 3), st.integers(-9, 9)
)
def test_simplify_of_coarse_and_fine_parts(step: int, a: int, n: int, b: int, constant: int):
    """(step*a*x + b*y + c) // (step*n): the fine part b*y + c goes only where it cannot carry."""
    inner = affine.shift(affine.add(affine.scale(X, step * a), Y, b), constant)
    row = affine.floordiv(inner, step * n)
    for extent in range(1, 5):
        box = (Range(-2, 4), Range(0, extent))
        simple = affine.simplify(row, box)
        assert all(at(simple, point) == at(row, point) for point in points(box))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (affine.floordiv(affine.add(affine.scale(X, 4), Y), 4), X),
        (affine.modulo(affine.add(affine.scale(X, 4), Y), 4), Y),
        (affine.floordiv(affine.add(affine.scale(X, 8), affine.scale(Y, 2)), 8), X),
        (affine.floordiv(affine.floordiv(X, 3), 4), affine.floordiv(X, 12)),
        (affine.floordiv(Y, 4), affine.ZERO),
    ],
)
def test_simplify_resolves_over_the_ranges(row: Row, expected: Row):
    assert affine.simplify(row, [Range(0, 100), Range(0, 4)]) == expected


def test_lone_and_coefficient():
    row = affine.add(affine.scale(X, 3), affine.floordiv(Y, 2))
    assert (row.coefficient(0), row.coefficient(1)) == (3, 0)
    assert (X.lone, row.lone, affine.shift(X, 1).lone) == (0, None, None)
