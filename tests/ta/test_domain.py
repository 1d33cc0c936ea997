"""Domain reasoning against enumeration of small boxes."""

import threading
import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ta import affine, domain
from ta.affine import Range, Row
from tests.strategies import boxes, ranges, rows

Box = tuple[Range, ...]
X, Y = affine.iterator(0), affine.iterator(1)
TWO = boxes(2, min_sides=2, max_extent=6)
MAPS = st.lists(rows(2), min_size=1, max_size=2).map(tuple)
few = settings(max_examples=80, deadline=None)


def points(box: Box) -> list[tuple[int, ...]]:
    return list(product(*(range(*side) for side in box)))


def image(rows: tuple[Row, ...], box: Box) -> list[tuple[int, ...]]:
    return [tuple(affine.evaluate(r, p.__getitem__) for r in rows) for p in points(box)]


def inside(point: tuple[int, ...], box: Box) -> bool:
    return all(side.lo <= value < side.hi for value, side in zip(point, box, strict=True))


@few
@given(rows(2, depth=3), TWO)
def test_row_bounds_are_attained(row: Row, box: Box):
    values = [value for (value,) in image((row,), box)]
    assert domain.row_bounds(row, box) == (min(values), max(values))


@few
@given(MAPS, TWO)
def test_image_box_is_the_least_box(rows: tuple[Row, ...], box: Box):
    columns = zip(*image(rows, box), strict=True)
    assert domain.image_box(rows, box) == tuple(Range(min(c), max(c) + 1) for c in columns)


@few
@given(MAPS, TWO, st.data())
def test_image_inside(rows: tuple[Row, ...], box: Box, data: st.DataObject):
    target = data.draw(st.tuples(*(ranges(0, 9) for _ in rows)))
    refusal = domain.image_inside(rows, box, target)
    assert (refusal is None) == all(inside(value, target) for value in image(rows, box))
    if refusal is not None:
        assert refusal.point is not None
        assert inside(refusal.point, box)
        assert not inside(image(rows, tuple(Range(v, v + 1) for v in refusal.point))[0], target)


@few
@given(MAPS, TWO, st.data())
def test_covers(rows: tuple[Row, ...], box: Box, data: st.DataObject):
    hit = set(image(rows, box))
    drawn = st.tuples(*(ranges(0, 5) for _ in rows))
    target = data.draw(st.one_of(drawn, st.just(domain.image_box(rows, box))))
    refusal = domain.covers(rows, box, target)
    assert (refusal is None) == (set(points(target)) <= hit)
    if refusal is not None and refusal.point is not None:
        assert inside(refusal.point, target)
        assert refusal.point not in hit


@few
@given(TWO, st.data())
def test_inverse_on(box: Box, data: st.DataObject):
    forward = data.draw(st.tuples(rows(2), rows(2)))
    backward = data.draw(st.tuples(rows(2, depth=1), rows(2, depth=1)))
    back = [image(backward, tuple(Range(v, v + 1) for v in y))[0] for y in image(forward, box)]
    refusal = domain.inverse_on(forward, backward, box)
    assert (refusal is None) == (back == points(box))
    if refusal is not None:
        assert refusal.point in points(box)


@few
@given(st.lists(st.tuples(rows(2), ranges(0, 6)), max_size=2), TWO, TWO)
def test_zero_outside(reads: list[tuple[Row, Range]], outer: Box, inner: Box):
    hits = [
        point
        for point in points(outer)
        if not inside(point, inner)
        and all(low <= affine.evaluate(r, point.__getitem__) < high for r, (low, high) in reads)
    ]
    assert domain.some_read_misses(reads, outer, inner) == (not hits)
    refusal = domain.zero_outside(reads, outer, inner)
    assert (refusal is None and not hits) or (refusal is not None and refusal.point in hits)


@given(boxes(3, min_sides=3, min_extent=0), boxes(3, min_sides=3, min_extent=0))
def test_difference_boxes_partition_the_difference(outer: Box, inner: Box):
    found = [point for box in domain.difference_boxes(outer, inner) for point in points(box)]
    assert sorted(found) == [point for point in points(outer) if not inside(point, inner)]


SPLIT = ((affine.add(affine.scale(X, 32), Y),), (affine.floordiv(X, 32), affine.modulo(X, 32)))
SKEW = ((affine.add(X, Y), Y), (affine.add(X, Y, -1), Y))


def test_split_and_fuse_are_bijections():
    forward, backward = SPLIT
    pair, line = (Range(0, 128), Range(0, 32)), (Range(0, 4096),)
    assert domain.is_bijection(forward, pair, backward, line) is None
    assert domain.is_bijection(backward, line, forward, pair) is None


@pytest.mark.parametrize(
    ("witness", "source", "target", "reason"),
    [
        (SPLIT, (Range(0, 128), Range(0, 33)), (Range(0, 4224),), "outside 0:128"),
        (SPLIT, (Range(0, 128), Range(0, 32)), (Range(0, 4095),), "4096 points"),
        (SPLIT, (Range(0, 128), Range(0, 32)), (Range(1, 4097),), "value 0, outside 1:4097"),
        (SKEW, (Range(0, 8), Range(0, 3)), (Range(0, 8), Range(0, 3)), "outside 0:8"),
        (((X,), (affine.scale(X, -1),)), (Range(0, 3),), (Range(0, 3),), "outside 0:3"),
        (
            ((affine.modulo(affine.shift(X, 1), 3),), (X,)),
            (Range(0, 3),),
            (Range(0, 3),),
            "does not come back",
        ),
    ],
)
def test_a_wrong_witness_is_refused(witness, source: Box, target: Box, reason: str):
    forward, backward = witness
    refusal = domain.is_bijection(forward, source, backward, target)
    assert refusal is not None
    assert reason in str(refusal)


def test_boxes_without_sides_and_without_points():
    empty = (Range(2, 2),)
    assert domain.is_bijection((), (), (), ()) is None
    assert domain.covers((affine.constant(3),), (), (Range(3, 4),)) is None
    assert domain.covers((affine.constant(3),), (), (Range(2, 4),)) is not None
    assert domain.image_inside((X,), empty, (Range(0, 1),)) is None
    assert domain.image_box((X,), empty) == (Range(0, 0),)
    with pytest.raises(ValueError, match="empty"):
        domain.row_bounds(X, empty)
    with pytest.raises(ValueError, match="2 components against 1"):
        domain.image_inside((X, Y), (Range(0, 1), Range(0, 1)), (Range(0, 1),))


def test_cost_does_not_grow_with_the_extents():
    huge = (Range(-7, 10**6), Range(3, 10**6))
    row = affine.add(affine.modulo(affine.add(X, Y, 3), 100), affine.floordiv(Y, 7))
    started = time.perf_counter()
    low, high = domain.row_bounds(row, huge)
    padded = affine.shift(affine.add(X, Y), -1)
    assert domain.some_read_misses([(padded, Range(0, 50))], huge, (Range(-7, 49), Range(3, 59)))
    assert domain.covers((row,), huge, (Range(low, high + 1),)) is None
    assert time.perf_counter() - started < 2
    assert (low, high) == (0, 142956)


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
