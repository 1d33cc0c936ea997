"""Comparisons, choices on values and iterators as values, against NumPy, by the public calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import torch

import einderive as ed
from tests.amount import sampled

A: Final = np.random.default_rng(0).standard_normal((5, 6))
B: Final = np.random.default_rng(1).standard_normal((5, 6))
K: Final = np.random.default_rng(2).integers(-3, 4, (5, 6))
M: Final = A > 0.3
ODD: Final = np.where(A > 1, np.nan, np.where(A < -1, np.inf, A))
LARGE: Final = 2**60 + np.arange(30).reshape(5, 6) % 4
P, J = np.arange(5)[:, None], np.arange(6)

CASES: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "Y[i,j] = A[i,j] > B[i,j]": (A > B, {"A": A, "B": B}),
    "Y[i,j] = A[i,j] == A[i,j]": (ODD == ODD, {"A": ODD}),
    "Y[i,j] = A[i,j] != A[i,j]": (ODD != ODD, {"A": ODD}),
    "Y[i,j] = not M[i,j]": (~M, {"M": M}),
    "Y[i,j] = A[i,j] > 0 and B[i,j] > 0 or i < j": (
        (A > 0) & (B > 0) | (P < J),
        {"A": A, "B": B},
    ),
    "Y[i,j] = 0 < A[i,j] <= 1/2": ((A > 0) & (A <= 0.5), {"A": A}),
    "Y[i,j] = isnan(A[i,j])": (np.isnan(ODD), {"A": ODD}),
    "Y[i,j] = isinf(A[i,j]) + isfinite(A[i,j])": (
        np.isinf(ODD).astype(int) + np.isfinite(ODD),
        {"A": ODD},
    ),
    "Y[i,j] = K[i,j] == 1152921504606846977": (LARGE == 2**60 + 1, {"K": LARGE}),
    "Y[i,j] = K[i,j] < 1/2": (K < 0.5, {"K": K}),
    "Y[i] = sum[j](A[i,j] > 0)": ((A > 0).sum(1), {"A": A}),
    "Y[i] = max[j](A[i,j] > 1)": ((A > 1).any(1), {"A": A}),
    "Y[i,j] = where(M[i,j], A[i,j], 0)": (np.where(M, A, 0), {"A": A, "M": M}),
    "Y[i,j] = where(A[i,j] > 0, K[i,j], 7)": (np.where(A > 0, K, 7), {"A": A, "K": K}),
    "Y[i,j] = where(A[i,j] > 0, log(A[i,j]), -1)": (
        np.where(A > 0, np.log(np.maximum(A, 1e-300)), -1),
        {"A": A},
    ),
    "Y[i,j] = where(isnan(A[i,j]), nan, pi)": (np.where(np.isnan(ODD), np.nan, np.pi), {"A": ODD}),
    "Y[i,j] = where(A[i,j] > i-j, i-j, j)": (np.where(A > P - J, P - J, J + 0 * P), {"A": A}),
    "Y[i,j] = exp(-(i-j)^2)*A[i,j]": (np.exp(-((P - J) ** 2.0)) * A, {"A": A}),
    "Y[i] = sum[j](j*A[i,j])": (A @ np.arange(6), {"A": A}),
    "Y[i,j] = A[i,j]/(i+j//2+1)": (A / (P + J // 2 + 1), {"A": A}),
    "Y[i,j] = i < j and A[i,j] > 0": ((P < J) & (A > 0), {"A": A}),
    "Y[i] = min[k](where(A[i,k] == max[l](A[i,l]), k, 6))": (A.argmax(1), {"A": A}),
    "Y[i,j] = 1000000*i + j + 100000*i*A[i,j]": (1000000 * P + J + 100000 * P * A, {"A": A}),
}


@sampled(4)
@pytest.mark.parametrize("convert", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("text", CASES)
def test_values(text: str, convert: Callable[[Any], Any]) -> None:
    expected, arrays = CASES[text]
    found = ed.evaluate(
        text,
        budget=ed.Budget(states=30),
        **{name: convert(array) for name, array in arrays.items()},
    )
    assert isinstance(found, np.ndarray) == (convert is np.asarray)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, equal_nan=True)
    assert np.asarray(found).dtype == expected.dtype


@pytest.mark.parametrize("text", CASES)
def test_text(text: str) -> None:
    _, arrays = CASES[text]
    shapes = {name: array.shape for name, array in arrays.items()}
    program = ed.parse(text, **shapes)
    again = ed.parse(str(program), **shapes)
    assert again.roots() == program.roots()
    assert program.latex()


@pytest.mark.parametrize(
    "text",
    [
        "Y[i] = sum[j](where(A[i,j] > B[i,j], A[i,j]*B[i,j], j))",
        "Y[i] = sum[j](log(exp(j))*A[i,j] + B[i,j])",
        "T[i,j] = i + A[i,j]; Y[i] = sum[j](where(T[i,j] > j, T[i,j], 0)*B[i,j])",
    ],
)
def test_derived_programs_are_checked(text: str) -> None:
    derivation = ed.derive(text, A=A, B=B, target="cpu", budget=ed.Budget(states=40))
    assert derivation.check()


def test_no_operator_of_a_library_takes_iterators() -> None:
    """The maximum is a reduction as it stands, but of no tensor that is given."""
    text = "T[i] = max[j](j) where i in 0:4, j in 0:3; Y[i] = T[i]*A[i]"
    compiled = ed.compile(text, seconds=0.001, A=(4,))
    found = compiled(np.array([1, 2, 3, -4], dtype=np.float32))
    np.testing.assert_array_equal(found, [2, 4, 6, -8])


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("Y[i] = where(A[i] > B[i], A[i], B[i])", "Y[i] = where(B[i] < A[i], A[i], B[i])", True),
        ("Y[i] = where(A[i] > 0, A[i], A[i])", "Y[i] = A[i]", True),
        ("Y[i] = not (A[i] == B[i])", "Y[i] = A[i] != B[i]", True),
        ("Y[i] = (i+1)*A[i]", "Y[i] = i*A[i] + A[i]", True),
        ("Y[i] = A[i] > B[i]", "Y[i] = A[i] < B[i]", False),
        ("Y[i] = where(A[i] > 0, A[i], 0)", "Y[i] = where(A[i] > 1, A[i], 0)", False),
        ("Y[i] = i*A[i]", "Y[i] = (i+1)*A[i]", False),
    ],
)
def test_equivalent(left: str, right: str, equal: bool) -> None:
    shapes = {name: (4,) for name in ("A", "B") if f"{name}[" in left + right}
    verdict = ed.equivalent(left, right, **shapes)
    assert bool(verdict) is equal
    assert equal or verdict.kind == "different"
