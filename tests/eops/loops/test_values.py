"""Rows of values over a loop: steps, lanes, parts, and where conditions change, point by point."""

from __future__ import annotations

import pytest

from einderive.eops.loops.drafts.values import (
    LEAST_PART,
    MOST_LANES,
    Checked,
    Load,
    Position,
    Windowed,
    cut_of,
    lanes,
    parts,
    rows_of,
    segments,
    with_rows,
)
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition

I0, I1 = affine.iterator(0), affine.iterator(1)


def quotient(inner: Row, n: int) -> Row:
    return Row(0, (), ((inner, n, 1),))


def test_a_step_counts_what_is_checked() -> None:
    load = Load(0, affine.scale(I0, 3), (Checked(affine.scale(I0, 2), 9, 5),), 0, False, "f", "f")
    assert load.step(0) == 3 + 2 * 5
    assert load.step(1) == 0


def test_rows_are_exchanged() -> None:
    load = Load(0, I0, (Checked(I1, 9, 5),), 0, False, "float32", "float32")
    for value in (Position(I0, "int64"), load, Windowed(0, (I0, I1), "float32")):
        moved = with_rows(value, [affine.shift(row, 7) for row in rows_of(value)])
        assert rows_of(moved) == tuple(affine.shift(row, 7) for row in rows_of(value))


def test_steps_in_which_no_index_is_divided() -> None:
    assert lanes([quotient(I0, 2), quotient(affine.scale(I0, 2), 6)], 0) == 6
    assert lanes([quotient(I0, MOST_LANES)], 0) == MOST_LANES
    assert lanes([quotient(I0, MOST_LANES + 1)], 0) == 1
    assert lanes([quotient(I1, 2), quotient(affine.add(I0, quotient(I0, 3)), 2)], 0) == 1


def test_quotients_that_stay_the_same_for_long() -> None:
    slow, fast = affine.scale(I0, 2), affine.scale(I0, 3)
    rows = [quotient(slow, 2 * LEAST_PART), quotient(fast, 3 * LEAST_PART - 1), quotient(I1, 99)]
    assert parts(rows, 0) == ((slow, 2 * LEAST_PART),)


@pytest.mark.parametrize("row", [affine.shift(I0, -3), affine.shift(affine.scale(I0, -2), 5)])
def test_a_condition_as_a_row_that_rises(row: Row) -> None:
    found = cut_of(Condition(">=", row), 0)
    assert found is not None
    rising, holds = found
    assert rising.coefficient(0) > 0
    for i in range(-9, 9):
        before, after = (r.coefficient(0) * i + r.const >= 0 for r in (row, rising))
        assert before == (after is holds)


def test_other_conditions_have_no_such_row() -> None:
    assert cut_of(Condition("==", I0), 0) is None
    assert cut_of(Condition(">=", I1), 0) is None
    assert cut_of(Condition(">=", affine.add(I0, quotient(I0, 2))), 0) is None


def test_a_loop_is_cut_where_rows_change() -> None:
    first, second, third = (affine.shift(I0, -at) for at in (3, 6, 8))
    found = segments([first, second], 0, Range(0, 10), True)
    assert [part.steps for part in found] == [Range(0, 3), Range(3, 6), Range(6, 10)]
    for part in found:
        for row, holds in part.holds.items():
            assert {i + row.const >= 0 for i in range(*part.steps)} == {holds}
    assert len(segments([first, second, third], 0, Range(0, 10), True)) == 1  # too many
    other = affine.add(I0, I1)
    assert [part.cut for part in segments([other], 0, Range(0, 10), True)] == [other, other]
    assert len(segments([other, affine.shift(other, 1)], 0, Range(0, 10), True)) == 1
    both = segments([first, other], 0, Range(0, 10), True)
    assert [part.steps for part in both] == [Range(0, 3), Range(3, 10)]
    assert len(segments([first, second, third, other], 0, Range(0, 10), True)) == 1
    before = affine.shift(I0, 2)
    assert len(segments([before, affine.shift(I0, -10)], 0, Range(0, 10), True)) == 1
    double = affine.shift(affine.scale(I0, 2), -5)
    cut = segments([double], 0, Range(0, 10), True)
    assert [part.steps for part in cut] == [Range(0, 3), Range(3, 10)]
