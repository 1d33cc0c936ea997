"""Where a formula jumps at values that a function rounds."""

from __future__ import annotations

import pytest

from einderive.ta.facts.jumps import jumps_on_rounding
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse

SHAPES = {"A": (4, 6), "B": (6,)}


def jumps(text: str) -> bool:
    shapes = {name: shape for name, shape in SHAPES.items() if f"{name}[" in text}
    return jumps_on_rounding(stages(*parse(text, shapes).roots()))


@pytest.mark.parametrize(
    "text",
    [
        "Y[i,j] = floor(2*sigmoid(A[i,j]))",
        "Y[i,j] = ceil(exp(A[i,j]))",
        "Y[i,j] = sign(exp(A[i,j]) - 1)",
        "Y[i,j] = where(exp(A[i,j]) > 1, 1, 0)",
        "Y[i,j] = floor(A[i,j]/B[j])",
        "Y[i,j] = trunc(sqrt(A[i,j]))",
        "Y[i,j] = A[i,j] % exp(B[j])",
        "E[i,j] = exp(A[i,j]); out Y[i,j] = round(E[i,j])",
        "S[i] = sum[j](exp(A[i,j])); out Y[i,j] = A[i,j] > S[i]",
        "Y[i,j] = A[i,j] + 2*relu(floor(exp(A[i,j])))",
        "Y[i,j] = argmax[k](exp(A[i,k]))*A[i,j]",
    ],
)
def test_jumps(text: str) -> None:
    assert jumps(text)


@pytest.mark.parametrize(
    "text",
    [
        "Y[i,j] = exp(A[i,j])*B[j]",
        "Y[i,j] = softmax[j](A[i,j])",
        "Y[i,j] = floor(A[i,j])*exp(A[i,j])",
        "Y[i,j] = where(A[i,j] > 0, exp(A[i,j]), B[j]/A[i,j])",
        "Y[i,j] = relu(exp(A[i,j]) - 2)",
        "Y[i,j] = max(exp(A[i,j]), B[j])",
        "Y[i,j] = abs(sigmoid(A[i,j]))",
        "Y[i] = max[j](exp(A[i,j]))",
        "Y[i,j] = where(i > j, exp(A[i,j]), 0)",
        "E[i,j] = exp(A[i,j]); F[i,j] = round(A[i,j]); out Y[i,j] = E[i,j]*F[i,j]",
    ],
)
def test_no_jumps(text: str) -> None:
    assert not jumps(text)
