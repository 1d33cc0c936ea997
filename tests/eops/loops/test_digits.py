"""Kernels whose source Python runs, in the types that they state: no digit is lost on the way, and
what is infinite stays so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense, plans
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.sizes import SIZES, Sizes
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops import interpreted
from tests.eops.loops.interpreted import SMALL, Memory, run

Array = NDArray[Any]


@pytest.fixture(autouse=True)
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(interpreted.KINDS, "float32", np.float32)


def results(text: str, inputs: Mapping[str, Array], *sizes: Sizes) -> Iterator[list[Array]]:
    """What each plan gives for these operands; of these sizes, or of the usual and small ones."""
    shapes = {name: value.shape for name, value in inputs.items()}
    types = {name: str(value.dtype) for name, value in inputs.items()}
    roots = parse(text, shapes, types).roots()
    group = Group(stages(*roots), roots)
    given = [inputs[source.name] for source in group.operands if isinstance(source, Tensor)]
    typing = typing_of(group, [torch.from_numpy(array).dtype for array in given])
    assert typing is not None
    every = [plans(group, dense(group), typing, each) for each in sizes or (SIZES, SMALL)]
    assert all(every)
    for made in chain(*every):
        yield run(made, [Memory([*array.ravel()]) for array in given])


WHOLE = {
    "integers are compared as integers": (
        "Y[i] = A[i]*(I[i] < J[i])",
        {"I": [2**53, 5], "J": [2**53 + 1, 5], "A": [1.0, 1.0]},
        [1.0, 0.0],
    ),
    "digits are those of integers": (
        "Y[i] = A[i]*bitwise_and(I[i], J[i])",
        {"I": [2**60 + 1, 2**60 + 6], "J": [3, 3], "A": [1.0, 0.5]},
        [1.0, 1.0],
    ),
    "sums of integers": (
        "S = sum[j](I[j]*J[j]); Y[i] = A[i]*bitwise_and(S, 7)",
        {"I": [2**30, 1, 1], "J": [2**30, 1, 1], "A": [1.0, 0.5]},
        [2.0, 1.0],
    ),
    "sums of integers, each thread's more than floats hold": (
        "S = sum[j](I[j]*J[j]); Y[i] = A[i]*bitwise_and(S, 7)",
        {"I": [2**30, 1] * 3, "J": [2**30, 1] * 3, "A": [1.0, 0.5]},
        [3.0, 1.5],
    ),
}


@pytest.mark.parametrize(("text", "inputs", "expected"), WHOLE.values(), ids=WHOLE)
def test_integers_that_floats_do_not_hold(
    text: str, inputs: dict[str, list[float]], expected: list[float]
) -> None:
    for (found,) in results(text, {name: np.array(value) for name, value in inputs.items()}):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("exponent", [1.5, -1.5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_by_roots_at_the_ends(exponent: float, dtype: str) -> None:
    data = np.array([0.0, 0.25, 4.0, -1.0, np.inf, -np.inf, np.nan], dtype)
    with np.errstate(all="ignore"):
        expected = np.power(data, exponent)
    for (found,) in results(f"Y[i] = A[i]^{exponent}", {"A": data}):
        np.testing.assert_array_equal(found, expected)


def test_terms_that_are_small_beside_the_first_one_are_added() -> None:
    """A total in float32 alone would stay at 1."""
    data = np.full(64, 2.0**-13, np.float32)
    data[0] = 1
    for (found,) in results("Y = sum[i](A[i]*A[i])", {"A": data}, SMALL):
        assert abs(found - (1 + 63 * 2.0**-26)) < 2.0**-23


CANCELLED = {"A": np.array([2.0**25, 1, -(2.0**25), 1] * 20, np.float32)}


def test_a_sum_of_what_is_read_has_all_digits() -> None:
    for (found,) in results("Y = sum[i](A[i])", CANCELLED):
        assert found == 40


def test_a_mean_that_is_taken_away_has_all_digits() -> None:
    for (found,) in results("M = mean[i](3*A[i]); Y[i] = 3*A[i] - M", CANCELLED):
        np.testing.assert_array_equal(found[1::2], 1.5)
