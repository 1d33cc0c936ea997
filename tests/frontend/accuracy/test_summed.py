"""What the terms of sums add up to, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.frontend.accuracy.summed import summed
from einderive.ta.exact.direct import computed_points, direct, interpreted_points
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate

A = np.random.default_rng(0).standard_normal((4, 5))
B = np.random.default_rng(1).standard_normal((5, 3))
C = np.random.default_rng(2).standard_normal((3, 4))
D2 = ((A[:, None] - B.T) ** 2).sum(-1)
VALUES = {"A": A, "B": B, "C": C}
CASES: list[tuple[str, Callable[[], Any]]] = [
    ("Y[i,j] = A[i,k]*B[k,j]", lambda: abs(A) @ abs(B)),
    ("Y[i,j] = (A[i,k]-B[k,j])^2", lambda: D2),
    ("Y[i] = min[j](sum[k]((A[i,k]-B[k,j])^2))", lambda: D2.min(1)),
    ("Y[i,j] = exp(-sum[k](A[i,k]*B[k,j]))", lambda: np.exp(-A @ B)),
    ("Y[i,j] = sum[k](A[i,k]*B[k,j]) - sum[k](A[i,k])", lambda: abs(A @ B - A.sum(1)[:, None])),
    ("T[i,j] = A[i,k]*B[k,j]; Y[i,l] = T[i,j]*C[j,l]", lambda: abs(A) @ abs(B) @ abs(C)),
    ("T[i] = A[i,k]; Y[i] = T[i]^2", lambda: 2 * abs(A).sum(1) * abs(A.sum(1))),
    (
        "T[i] = A[i,k]; U[i] = C[j,i]; Y[i] = T[i]*U[i]",
        lambda: abs(A).sum(1) * abs(C.sum(0)) + abs(A.sum(1)) * abs(C).sum(0),
    ),
    ("T[i] = A[i,k]; Y[i] = relu(T[i])", lambda: np.maximum(A.sum(1), 0)),
]


@pytest.mark.parametrize(("text", "wanted"), CASES, ids=[text for text, _ in CASES])
def test_what_terms_add_up_to(text: str, wanted: Callable[[], Any]) -> None:
    shapes = {name: VALUES[name].shape for name in "ABC" if f"{name}[" in text}
    (root,) = ed.parse(text, **shapes).roots()
    np.testing.assert_allclose(evaluate(summed(root), VALUES, RealField()), wanted())


@pytest.mark.parametrize(
    "text",
    ["Y[3*i+k] += w[k]*X[i,k]", "Y[I[i]] += X[i,0]", "Y[v] = sum[i](I[i] == v) where v in 0:30"],
)
def test_a_scatter_stays_one(text: str) -> None:
    """Else all terms would be visited for each place."""
    shapes = {"w": (4,), "X": (9, 4), "I": (9,), "Y": (30,)}
    used = {n: shape for n, shape in shapes.items() if f"{n}[" in text and "v in" not in text}
    used |= {"I": (9,)} if "I[" in text else {}
    (root,) = ed.parse(text, dtypes={"I": "int64"} if "I[" in text else "float32", **used).roots()
    assert direct(root) is not None
    assert direct(summed(root)) is not None
    assert interpreted_points(root) >= 30 * 9 > computed_points(root)
