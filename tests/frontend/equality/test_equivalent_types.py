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
    ("left", "right", "dtype", "how"),
    [
        ("abs(A[i])", "A[i]", "uint8", "all 256 choices of entries were tried (A is uint8)"),
        ("relu(A[i])", "A[i]", "bool", "all 2 choices"),
        ("A[i]^2", "A[i]", "bool", "all 2 choices"),
        ("A[i]*A[i-1]^3", "A[i]*A[i-1]", "bool", "all 16 choices"),
        ("sum[k](A[k]*A[i]^2)", "sum[k](A[k]*A[i])", "bool", "all 4 choices"),
        ("maximum(A[i], -1)", "A[i]", "uint8", "all 256 choices"),
        ("maximum(A[i], -128)", "A[i]", "int8", "all 256 choices"),
        ("sqrt(A[i]^2)", "A[i]", "uint8", "for 0 <= A <= 255"),
        ("sqrt(A[i]^2)", "A[i]", "bool", "for 0 <= A <= 1"),
        ("floor(A[i])", "A[i]", "int32", "A is int32"),
        ("round(2*A[i] - 1)", "2*A[i] - 1", "int64", "A is int64"),
    ],
)
def test_equal_for_the_entries_of_the_type(left: str, right: str, dtype: str, how: str) -> None:
    assert verdict(left, right).kind == "different"
    found = verdict(left, right, dtypes=dtype)
    assert found.kind == "proved"
    assert how in str(found)


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [
        ("maximum(A[i], -127)", "A[i]", "int8"),
        ("minimum(A[i], 254)", "A[i]", "uint8"),
        ("A[i]^2", "A[i]", "uint8"),
        ("abs(A[i])", "A[i]", "int8"),
        ("abs(A[i] - 1)", "A[i] - 1", "uint8"),
        ("1/A[i]", "A[i]", "bool"),
        ("sqrt(A[i]^2)", "A[i]", "int8"),
        ("floor(A[i]/2)", "A[i]/2", "int32"),
        ("floor(exp(A[i]))", "exp(A[i])", "int32"),
        ("A[i]^9 - A[i]", "(A[i]^2 - A[i])^2*A[i-1]^64", "uint8"),
    ],
)
def test_nothing_is_shown_of_a_type_where_an_entry_differs_or_has_no_value(
    left: str, right: str, dtype: str
) -> None:
    assert not verdict(left, right, dtypes=dtype)


def test_assumptions_limit_the_entries_that_are_tried() -> None:
    found = ed.equivalent(
        "assume 1 <= A <= 2; Y[i] = 1/A[i]", "Y[i] = (3 - A[i])/2", A=A, dtypes="uint8"
    )
    assert found.kind == "proved"
    assert "all 2 choices" in str(found)


def test_without_laws_entries_are_tried_and_nothing_else() -> None:
    assert verdict("abs(A[i])", "A[i]", dtypes="uint8", laws=())
    assert verdict("sqrt(A[i]^2)", "A[i]", dtypes="uint8", laws=()).kind == "undecided"


@pytest.mark.parametrize(
    ("left", "right", "dtype", "types"),
    [
        ("A[i] > 0", "where(A[i] > 0, 1, 0)", "float32", ("bool", "bool")),
        ("A[i] > 0", "sign(relu(A[i]))", "float32", ("bool", "float32")),
        ("abs(A[i])", "A[i]", "uint8", ("int64", "uint8")),
        ("sum[k](A[k]*A[i])", "A[i]*sum[k](A[k])", "int8", ("int64", "int64")),
        ("A[i]*conj(A[i])", "abs(A[i])^2", "complex64", ("complex64", "float32")),
        ("sqrt(A[i]^2)", "abs(A[i])", "int32", ("float32", "int64")),
    ],
)
def test_other_element_types_are_told(
    left: str, right: str, dtype: str, types: tuple[str, str]
) -> None:
    """The types are those of the compiled formulas."""
    found = verdict(left, right, dtypes=dtype)
    assert found
    data = np.ones(A).astype(dtype)
    for side, wanted in zip((left, right), types, strict=True):
        assert (
            str(ed.evaluate(f"Y[i] = {side}", A=data, budget=ed.Budget(states=20)).dtype) == wanted
        )
    other = types[0] != types[1]
    assert found.types == ((("Y", *types),) if other else ())
    told = f"equal as numbers, but Y is {types[0]} on the left, {types[1]} on the right"
    assert (told in str(found)) == other


def test_types_are_compared_by_the_names_of_outputs_and_at_all_sizes() -> None:
    found = ed.equivalent(
        "Y[i] = A[i]; Z[i] = abs(A[i])", "Z[i] = A[i]; Y[i] = A[i]", A=A, dtypes="uint8"
    )
    assert found.types == (("Z", "int64", "uint8"),)
    summed, first = "Y[i] = sum[k](A[i,k])", "Y[i] = A[i,0] + sum[k](where(k > 0, A[i,k], 0))"
    assert ed.equivalent(summed, first, A=("n", "m"), dtypes="int8").types == ()
    found = ed.equivalent(summed, "Y[i] = A[i,0]", A=("n", 1), dtypes="int8")
    assert found.types == (("Y", "int64", "int8"),)


def test_no_types_are_told_of_formulas_that_are_not_equal() -> None:
    found = verdict("A[i] > 0", "2*A[i]")
    assert found.kind == "different"
    assert found.types == ()


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
