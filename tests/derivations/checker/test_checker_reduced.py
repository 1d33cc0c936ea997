"""Reductions of equal values over the same points, which formal sums do not reach."""

from __future__ import annotations

import pytest

from einderive.derivations.checker import not_equal
from tests.derivations.checker.changes import agree
from tests.derivations.checker.identities import SHAPES
from tests.derivations.seeds import read

BEFORE = "{L[i:0:3] prod[k:0:3] A[k]*(C[i,k] - B[k])}"
ALIKE = (
    "{L[i:0:3] prod[k:0:3] (A[k]*C[i,k] - A[k]*B[k])}",
    "{L[i:0:3] prod[k:0:3] (A[k]*C[i,k] - {L[k:0:9] A[k]*B[k]}[k])}",
)
UNLIKE = (
    "{L[i:0:3] max[k:0:3] (A[k]*C[i,k] - A[k]*B[k])}",
    "{L[i:0:3] prod[k:0:4] (A[k]*C[i,k] - A[k]*B[k])}",
    "{L[i:0:3] prod[k:1:4] (A[k]*C[i,k] - A[k]*B[k])}",
    "{L[i:0:3] prod[k:0:3] (A[k]*C[i,k] - A[k]*B[i])}",
    "{L[i:0:3] (A[i]*C[i,i] - A[i]*B[i])}",
)


@pytest.mark.parametrize("after", ALIKE)
def test_equal_values_are_reduced_alike(after: str) -> None:
    one, other = read(BEFORE, **SHAPES), read(after, **SHAPES)
    assert agree(one, other)
    assert not_equal(one, other) is None
    assert not_equal(other, one) is None


@pytest.mark.parametrize("after", UNLIKE)
def test_others_are_not(after: str) -> None:
    one, other = read(BEFORE, **SHAPES), read(after, **SHAPES)
    assert not agree(one, other)
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None


def test_no_reduction_is_none_of_this() -> None:
    one = read("{L[i:0:9] A[i]*(A[i] - B[i])}", **SHAPES)
    other = read("{L[i:0:9] (A[i]^2 - 2*A[i]*B[i])}", **SHAPES)
    assert not_equal(one, other) == "the two sides are different sums of products"
