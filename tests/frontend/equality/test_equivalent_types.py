"""Element types are sets of entries: a difference has to lie in them, and complex ones have no
order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.frontend.equality.element_ranges import ENTRIES

A = (4,)
GROUPED = "Y[i,j,k,l] = A[i,16*(j//4)+c,k+r-1,l+t-1]*B[j,c,r,t] where k in 0:28, l in 0:28"


def verdict(left: str, right: str, **options: Any) -> ed.Verdict:
    return ed.equivalent(f"Y[i] = {left}", f"Y[i] = {right}", A=A, **options)


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [
        ("abs(A[i])", "A[i]", "uint8"),
        ("relu(A[i])", "A[i]", "bool"),
        ("A[i]^2", "A[i]", "bool"),
        ("A[i]*A[i-1]^3", "A[i]*A[i-1]", "bool"),
        ("maximum(A[i], -1)", "A[i]", "uint8"),
        ("sqrt(A[i]^2)", "A[i]", "uint8"),
    ],
)
def test_equal_for_the_entries_of_the_type_is_not_called_different(
    left: str, right: str, dtype: str
) -> None:
    numbers = verdict(left, right)
    assert numbers.kind == "different"
    found = verdict(left, right, dtypes=dtype)
    assert found.kind == "undecided"
    assert f"A is {dtype}" in str(found)


@pytest.mark.parametrize("dtype", ENTRIES)
@pytest.mark.parametrize(
    ("left", "right"), [("2*A[i]", "A[i]"), ("A[i]^2", "2*A[i]"), ("A[i-1]*A[i]", "A[i]^2")]
)
def test_differences_lie_in_the_types(left: str, right: str, dtype: str) -> None:
    found = verdict(left, right, dtypes=dtype)
    assert found.kind == "different"
    assert found.counterexample is not None
    entries = found.counterexample.entries
    assert entries
    for _, _, value in entries:
        assert np.array([int(value)]).astype(dtype)[0] == value


def test_a_difference_that_one_type_alone_shows() -> None:
    found = verdict("abs(A[i]*B[i])", "A[i]*B[i]", B=A, dtypes={"A": "uint8", "B": "int8"})
    assert found.kind == "different"
    assert found.counterexample is not None
    assert found.counterexample.entries
    for name, _, value in found.counterexample.entries:
        assert name == "B" or value >= 0


def test_large_programs_are_asked_of_entries_of_their_types() -> None:
    sizes: Any = {"A": (8, 32, 28, 28), "B": (8, 16, 3, 3)}
    for dtypes in ("float32", "uint8", "bool"):
        found = ed.equivalent(GROUPED, GROUPED.replace("j//4", "j//3"), dtypes=dtypes, **sizes)
        assert found.kind == "different", dtypes


def test_order_says_nothing_of_complex_numbers() -> None:
    assert verdict("abs(A[i])^2", "A[i]^2").kind == "evaluated"
    found = verdict("abs(A[i])^2", "A[i]^2", dtypes="complex64")
    assert found.kind == "different"
    assert verdict("A[i]*(A[i]+1)", "A[i]^2 + A[i]", dtypes="complex64").kind == "evaluated"
    assert verdict("abs(A[i])", "abs(A[i])", dtypes="complex64").kind == "identical"


@pytest.mark.parametrize(
    ("left", "right"), [("sqrt(A[i]^2)", "A[i]"), ("exp(log(A[i]^2)/2)", "A[i]")]
)
def test_negative_entries_are_tried(left: str, right: str) -> None:
    found = verdict(left, right)
    assert found.kind == "different"
    assert found.counterexample is not None
    assert any(value < 0 for _, _, value in found.counterexample.entries or ())
