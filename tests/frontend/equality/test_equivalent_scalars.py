"""Scalars of very many entries: none can be evaluated, and each is compared as formal sums."""

from __future__ import annotations

import pytest

import einderive as ed

MANY = 5_000_000
NEIGHBOURS = "Y = A[i]*A[i+1]"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (NEIGHBOURS, f"Y = A[i-1]*A[i] where i in 1:{MANY}"),
        ("Y = max[i](A[i])", f"Y = max[i](A[{MANY - 1}-i]) where i in 0:{MANY}"),
        ("Y = sum[i](exp(A[i]))", f"Y = sum[i](exp(A[{MANY - 1}-i])) where i in 0:{MANY}"),
    ],
)
def test_equal_scalars(left: str, right: str) -> None:
    verdict = ed.equivalent(left, right, A=(MANY,))
    assert verdict.kind == "proved"
    assert "no position was evaluated" in str(verdict)


@pytest.mark.parametrize(
    "right",
    [
        f"Y = A[i-1]*A[i] where i in 2:{MANY}",
        f"Y = 2*A[i-1]*A[i] where i in 1:{MANY}",
        f"Y = A[i-1]*A[i-1] where i in 1:{MANY}",
    ],
)
def test_other_scalars(right: str) -> None:
    verdict = ed.equivalent(NEIGHBOURS, right, A=(MANY,))
    assert not verdict
    assert verdict.kind == "undecided"
