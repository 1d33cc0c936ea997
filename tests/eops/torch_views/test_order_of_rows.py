"""Reductions in the order of their operand's memory: the same numbers, stored as they are to be."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from einderive.eops.torch_views.contract import Operand, Shape, contract, result_order
from einderive.eops.torch_views.steps import order_of_rows, reduced
from einderive.ta.ir.node import Reducer

MEMORY = torch.arange(17 * 16 * 18, dtype=torch.float64).sin().reshape(17, 16, 18)


@pytest.mark.parametrize("order", permutations(range(3)))
@pytest.mark.parametrize("reducer", ["sum", "max", "min", "prod"])
def test_any_order_gives_the_same(reducer: Reducer, order: tuple[int, ...]) -> None:
    x = MEMORY.permute(order)
    expected = {
        "sum": x.sum(2),
        "max": x.amax(2),
        "min": x.amin(2),
        "prod": x.prod(2),
    }[reducer]
    found = reduced(reducer, x, 2, torch.float64)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    assert found.is_contiguous()


@pytest.mark.parametrize(
    ("order", "first", "rows"),
    [
        ((0, 1, 2), 2, None),  # along the memory
        ((1, 2, 0), 2, None),  # rows, as they lie
        ((2, 1, 0), 2, (1, 0)),  # columns first
        ((2, 0, 1), 2, (1, 0)),
        ((1, 0, 2), 2, None),  # along the memory, whatever the order of the results
        ((2, 1, 0), 1, None),
        ((0, 1, 2), 3, None),
    ],
)
def test_rows_of_memory(order: tuple[int, ...], first: int, rows: tuple[int, ...] | None) -> None:
    x = MEMORY.permute(order)
    assert order_of_rows(tuple(x.shape), x.stride(), first) == rows


def test_few_elements_are_reduced_as_they_are_asked_for() -> None:
    assert order_of_rows((4, 4, 4), (1, 4, 16), 2) is None


def test_repeated_and_single_elements_do_not_count() -> None:
    x = MEMORY.permute(1, 2, 0)[None].expand(5, 1, 16, 18, 17).transpose(0, 1)
    assert order_of_rows(tuple(x.shape), x.stride(), 4) is None


@pytest.mark.parametrize("kept", [{0, 1}, {1, 2}, {0, 2}])
@pytest.mark.parametrize("order", permutations(range(3)))
def test_terms_of_equal_iterators_are_added_in_the_order_of_memory(
    order: tuple[int, ...], kept: set[int]
) -> None:
    """Nothing stands in one operand alone, so no product of matrices computes it."""
    x, y = MEMORY.permute(order), MEMORY.permute(order).contiguous().cos()
    found = contract(Operand(x, (0, 1, 2)), Operand(y, (0, 1, 2)), frozenset(kept))
    (summed,) = {0, 1, 2} - kept
    torch.testing.assert_close(found.tensor, (x * y).sum(summed), rtol=1e-12, atol=1e-12)
    shapes = [Shape((0, 1, 2), tuple(one.shape), one.stride()) for one in (x, y)]
    stated = result_order(shapes[0], shapes[1], frozenset(kept))
    strides = dict(zip(found.dims, found.tensor.stride(), strict=True))
    assert list(stated) == sorted(kept, key=lambda i: -strides[i])
