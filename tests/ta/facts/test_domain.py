"""Domain reasoning against enumeration of small boxes."""

import threading
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einderive.ta.facts import integer_sets as domain
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from tests.strategies import boxes, ranges, rows
from tests.work import at_most

Box = tuple[Range, ...]
Reads = list[tuple[Row, Range]]
X, Y = affine.iterator(0), affine.iterator(1)
TWO = boxes(2, min_sides=2, max_extent=6)
READS = st.lists(st.tuples(rows(2), ranges(0, 6)), max_size=2)
few = settings(max_examples=80, deadline=None)


def points(box: Box) -> list[tuple[int, ...]]:
    return list(product(*(range(*side) for side in box)))


def hits(reads: Reads, point: tuple[int, ...]) -> bool:
    """Every row lies in its range at the point."""
    return all(low <= affine.evaluate(r, point.__getitem__) < high for r, (low, high) in reads)


@few
@given(rows(2, depth=3), TWO)
def test_row_bounds_are_attained(row: Row, box: Box):
    values = [affine.evaluate(row, point.__getitem__) for point in points(box)]
    assert domain.row_bounds(row, box) == (min(values), max(values))


@few
@given(READS, READS, TWO)
def test_reads_miss(reads: Reads, inside: Reads, box: Box):
    outside = [point for point in points(box) if not hits(inside, point)]
    assert domain.reads_miss(reads, inside, box) == (not any(hits(reads, p) for p in outside))


def test_an_empty_box_has_no_bounds():
    with pytest.raises(ValueError, match="empty"):
        domain.row_bounds(X, (Range(2, 2),))


def test_cost_does_not_grow_with_the_extents():
    huge = (Range(-7, 10**6), Range(3, 10**6))
    row = affine.add(affine.modulo(affine.add(X, Y, 3), 100), affine.floordiv(Y, 7))
    padded, within = affine.shift(affine.add(X, Y), -1), [(X, Range(-7, 49)), (Y, Range(3, 59))]
    with at_most(10_000):
        assert domain.row_bounds(row, huge) == (0, 142956)
        assert domain.reads_miss([(padded, Range(0, 50))], within, huge)
        assert not domain.reads_miss([(padded, Range(0, 55))], within, huge)


def test_each_thread_has_a_context_of_its_own():
    row = affine.add(affine.modulo(X, 5), affine.floordiv(X, 3))
    found: list[tuple[int, int]] = []
    threads = [
        threading.Thread(
            target=lambda k=k: found.append(domain.row_bounds(row, (Range(0, 40 + k),)))
        )
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [max(x % 5 + x // 3 for x in range(40 + k)) for k in range(4)]
    assert sorted(found) == sorted((0, high) for high in expected)
