"""Views against the definition: every element read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from einderive.eops.torch_views.strided import fill_value
from einderive.eops.torch_views.views import plan_view
from einderive.ta.errors import BuildError
from einderive.ta.ir import affine
from einderive.ta.ir.affine import (
    Range,
    Row,
    add,
    constant,
    floordiv,
    iterator,
    modulo,
    scale,
    shift,
)
from einderive.ta.ir.node import Number

H, J, K = iterator(0), iterator(1), iterator(2)


def read_one_by_one(
    buffer: torch.Tensor,
    ranges: Sequence[Range],
    rows: Sequence[Row],
    box: Sequence[Range],
    fill: Number,
) -> np.ndarray:
    values = buffer.numpy()
    result = np.empty([r.extent for r in box])
    for point in product(*(range(*r) for r in box)):
        index = [affine.evaluate(row, point.__getitem__) for row in rows]
        inside = all(r.lo <= x < r.hi for x, r in zip(index, ranges, strict=True))
        where = tuple(x - r.lo for x, r in zip(index, ranges, strict=True))
        target = tuple(x - r.lo for x, r in zip(point, box, strict=True))
        result[target] = values[where] if inside else float(fill)
    return result


def check(
    buffer: torch.Tensor,
    ranges: Sequence[Range],
    rows: Sequence[Row],
    box: Sequence[Range],
    fill: Number = Fraction(0),
) -> torch.Tensor:
    plan = plan_view(ranges, rows, list(enumerate(box)), fill)
    view = plan(buffer)
    shape = [r.extent if i in plan.present else 1 for i, r in enumerate(box)]
    whole = view.reshape(shape).expand([r.extent for r in box])
    expected = read_one_by_one(buffer, ranges, rows, box, fill)
    np.testing.assert_array_equal(whole.numpy(), expected)
    return view


def filled(*shape: int) -> torch.Tensor:
    return torch.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)


def zero_based(*extents: int) -> list[Range]:
    return [Range(0, extent) for extent in extents]


VIEWS = {
    "transposed": ([J, H], (5, 4)),
    "diagonal": ([H, H], (4,)),
    "window": ([add(H, J), K], (3, 2, 5)),
    "strided": ([scale(H, 2), J], (2, 5)),
    "block": ([add(scale(H, 2), J), K], (2, 2, 5)),
    "constant": ([constant(2), H], (5,)),
    "absent iterator": ([H, constant(1)], (4, 9)),
    "against the diagonal": ([H, shift(scale(H, -1), 3)], (4,)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_reads_inside_share_memory(name: str) -> None:
    rows, box = VIEWS[name]
    buffer = filled(4, 5)
    view = check(buffer, zero_based(4, 5), rows, zero_based(*box))
    assert view.untyped_storage().data_ptr() == buffer.untyped_storage().data_ptr()


OUTSIDE = {
    "same padding": ([shift(add(H, J), -1), K], (4, 3, 5)),
    "far side": ([add(H, J), K], (4, 3, 5)),
    "only far outside": ([shift(H, 20), J], (3, 5)),
    "reversed": ([shift(scale(H, -1), 2), J], (3, 5)),
    "reversed and outside": ([shift(scale(H, -1), 4), J], (7, 5)),
    "against a loop": ([shift(add(H, scale(J, -2)), 1), K], (6, 3, 5)),
    "both backwards": ([shift(add(scale(H, -1), scale(J, -1)), 5), K], (4, 3, 5)),
    "phases by floor": ([floordiv(H, 2), modulo(H, 2)], (9,)),
    "floor of a shift": ([floordiv(shift(H, 1), 3), J], (11, 5)),
    "negative floor": ([floordiv(shift(H, -3), 2), J], (8, 6)),
    "floor of two": ([floordiv(add(H, scale(J, 2)), 3), K], (4, 3, 6)),
    "empty": ([H, J], (0, 5)),
    "an absent empty iterator": ([H, constant(1)], (3, 0)),
}


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("fill", [Fraction(0), Fraction(1, 2), -inf])
def test_reads_outside_give_the_fill(name: str, fill: Number) -> None:
    rows, box = OUTSIDE[name]
    check(filled(4, 5), zero_based(4, 5), rows, zero_based(*box), fill)


def test_ranges_that_start_below_zero() -> None:
    ranges = [Range(-2, 2), Range(3, 8)]
    check(filled(4, 5), ranges, [add(H, J), shift(J, 4)], [Range(-4, 1), Range(-1, 4)])


@pytest.mark.parametrize("rows", [[shift(H, -1), J], [shift(scale(H, -1), 4), J]])
def test_any_strides_of_the_buffer(rows: list[Row]) -> None:
    box = zero_based(6, 4)
    whole = filled(4, 3, 6)
    for buffer in (
        whole.permute(2, 0, 1)[:, :, 1],
        filled(4).expand(6, 4),
        whole[1].t()[:, :1].expand(6, 4),
        filled(20).as_strided((6, 4), (1, 3)),
    ):
        check(buffer, zero_based(6, 4), rows, box)


def test_only_what_is_read_outside_is_padded() -> None:
    buffer = filled(4, 5)
    view = check(buffer, zero_based(4, 5), [shift(H, -1), J], zero_based(4, 5))
    assert view.untyped_storage().nbytes() == 4 * 4 * 5


def test_a_source_without_elements_is_all_fill() -> None:
    for row in (H, floordiv(shift(H, -2), 2)):
        check(filled(0, 5), zero_based(0, 5), [row, J], zero_based(5, 5), Fraction(3))


def test_fills_of_integers() -> None:
    assert fill_value(-inf, torch.int32) == -(2**31)
    assert fill_value(Fraction(3), torch.int64) == 3
    with pytest.raises(BuildError, match="1/2"):
        fill_value(Fraction(1, 2), torch.int8)


def test_integer_buffers_keep_their_type() -> None:
    buffer = torch.arange(5, dtype=torch.int16)
    view = plan_view([Range(0, 5)], [shift(H, -2)], [(0, Range(0, 5))], Fraction(0))(buffer)
    assert view.dtype == torch.int16
    assert view.tolist() == [0, 0, 0, 1, 2]


@st.composite
def reads(draw: st.DrawFn) -> tuple[list[Range], list[Row], list[Range]]:
    small = st.integers(-3, 3)
    box = [Range(lo, lo + draw(st.integers(1, 4))) for lo in draw(st.lists(small, max_size=3))]
    ranges, rows = [], []
    for _ in range(draw(st.integers(1, 3))):
        lo = draw(small)
        ranges.append(Range(lo, lo + draw(st.integers(1, 5))))
        row = constant(draw(small))
        for i in range(len(box)):
            row = add(row, iterator(i), draw(small))
        if draw(st.integers(0, 3)) == 0:
            row = floordiv(row, draw(st.integers(2, 4)))
        rows.append(row)
    return ranges, rows, box


@settings(max_examples=200, deadline=None)
@given(reads(), st.booleans())
def test_random_reads(read: tuple[list[Range], list[Row], list[Range]], reverse: bool) -> None:
    ranges, rows, box = read
    shape = [r.extent for r in ranges]
    buffer = filled(*shape)
    if reverse:
        buffer = filled(*reversed(shape)).permute(*reversed(range(len(shape))))
    check(buffer, ranges, rows, box, Fraction(-1))
