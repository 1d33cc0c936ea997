"""The same gather or scatter in two ways, and others that are not the same."""

from __future__ import annotations

from typing import Any

import pytest

import einderive as ed

SHAPES: dict[str, Any] = {"I": (5,), "A": (5, 3), "E": (6, 3), "Y": (4,)}
GATHER = "Y[n,d] = E[I[n],d]"
SCATTER = "Y[I[n]] += A[n,0]"


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        (GATHER, "Y[n,d] = sum[v](where(v == I[n], E[v,d], 0))", "identical"),
        ("Y[n] = 2*E[I[n],0]", "Y[n] = sum[v](where(v == I[n], 2*E[v,0], 0))", "proved"),
        ("Y[n] = E[I[n],0]", "Y[n] = E[I[n]-1,0]", "different"),
        (SCATTER, "Y[v] = sum[n](where(I[n] == v, A[n,0], 0))", "identical"),
        (SCATTER, "Y[I[n]] += A[n,1]", "different"),
        ("Y[I[n]] += 1", "Y[v] = sum[n](I[n] == v)", "identical"),
    ],
)
def test_verdicts(left: str, right: str, outcome: str) -> None:
    given = {name: shape for name, shape in SHAPES.items() if name in left + right}
    if left == GATHER or "Y[n]" in left:
        del given["Y"]
    verdict = ed.equivalent(left, right, dtypes={"I": "int64"}, **given)
    assert str(verdict).partition(":")[0] == outcome
