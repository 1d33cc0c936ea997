"""Arrays as examples, one-shot evaluation, and the type of results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.compile import evaluate as module
from einderive.ta.errors import EinderiveError, NameUnknownError, OperandError

A = np.random.default_rng(0).standard_normal((4, 5))
X = np.random.default_rng(1).standard_normal(5)
TEXT = "Y[i] = A[i,k]*x[k]"


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int32", "bool"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_arrays_stand_for_shape_and_type(kind: str, library: str) -> None:
    a: Any = A.astype(kind)
    if library == "torch":
        a = torch.from_numpy(a)
    program = ed.parse("Y[i] = A[i,k]*x[k]", A=a, x=(5,))
    assert [(t.shape, t.dtype) for t in program.inputs] == [((4, 5), kind), ((5,), "float32")]
    other = ed.parse("Y[i] = A[i,k]*x[k]", A=a, x=(5,), dtypes={"A": "float64"})
    assert other.inputs[0].dtype == "float64"


def test_compile_takes_arrays() -> None:
    f = ed.compile(TEXT, A=A, x=X, target="cpu", seconds=0.01)
    np.testing.assert_allclose(f(A, X), A @ X, rtol=1e-12)
    assert f(A, X).dtype == np.float64


def test_results_in_the_type_asked_for() -> None:
    f = ed.compile(TEXT, A=A, x=X, target="cpu", seconds=0.01, output="float32")
    for _ in range(2):
        assert f(A, X).dtype == np.float32
        np.testing.assert_allclose(f(A, X), A @ X, rtol=1e-6)
    with pytest.raises(NameUnknownError, match="unknown element type"):
        ed.compile(TEXT, A=A, x=X, output="float31")


def test_evaluate_derives_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_kept", {})
    first = ed.evaluate(TEXT, A=A, x=X, seconds=0.01)
    monkeypatch.setattr(module, "compile_formula", None)
    np.testing.assert_array_equal(ed.evaluate(TEXT, A=A, x=X, seconds=0.01), first)
    out = np.empty(4)
    assert ed.evaluate(TEXT, A=A, x=X, seconds=0.01, out=out) is out
    np.testing.assert_allclose(out, A @ X, rtol=1e-12)
    for other in ({"A": A.astype("f4"), "x": X}, {"A": A[:3], "x": X}):
        with pytest.raises(TypeError):  # it would be compiled anew
            ed.evaluate(TEXT, **other, seconds=0.01)


def test_options_that_have_no_hash_are_told_apart() -> None:
    class Baseline:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return a @ x

    first, second = Baseline(), Baseline()
    assert module._frozen(first) == module._frozen(first)
    assert len({module._frozen(value) for value in (first, first, second)}) == 2
    before = module._frozen(first)
    del first
    assert all(module._frozen(Baseline()) != before for _ in range(9))


def test_evaluate_takes_numbers_and_lists() -> None:
    found = ed.evaluate("Y[i] = s*A[i]", A=torch.ones(3), s=2.5, seconds=0.01)
    assert isinstance(found, torch.Tensor)
    assert found.dtype is torch.float32
    assert found.tolist() == [2.5] * 3
    assert ed.evaluate("Y[i] = s*A[i]", A=[1, 2], s=3, seconds=0.01).tolist() == [3, 6]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"A": A, "x": "abc"}, "x is not an array of numbers"),
        ({"A": A, "x": [[1.0], [2.0, 3.0]]}, "x is not an array of numbers"),
        ({"A": A, "x": X, "z": 1.0}, "z"),
        ({"A": A, "x": X[:3]}, "k"),
    ],
)
def test_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(EinderiveError, match=message):
        ed.evaluate(TEXT, **given)


def test_devices_have_to_agree() -> None:
    with pytest.raises(OperandError, match="different devices"):
        ed.compile(TEXT, A=torch.ones(4, 5), x=torch.ones(5, device="meta"))


def test_a_tensor_may_be_named_out() -> None:
    a = torch.arange(3.0)
    torch.testing.assert_close(ed.evaluate("Y[i] = 2*out[i]", out=a), 2 * a)
    result = torch.empty(3)
    ed.evaluate("Y[i] = 2*A[i]", A=a, out=result)
    torch.testing.assert_close(result, 2 * a)


def test_evaluate_takes_the_shape_of_a_result() -> None:
    text = "S[i] = A[i+r-1]*K[r]; Y[i] = 2*S[i]"
    for extent in (4, 5):
        found = ed.evaluate(text, A=np.arange(5.0), K=np.ones(3), S=(extent,))
        assert found.tolist() == [2.0, 6.0, 12.0, 18.0, 14.0][:extent]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("w[n] = 0.5 - 0.5*cos(2*pi*n/15) where n in 0:16", np.hanning(16)),
        ("P[i] = 10000^(i/8) where i in 0:4", 10000 ** (np.arange(4) / 8)),
        ("F[k,n] = exp(-2*pi*1j*k*n/8) where k in 0:8, n in 0:8", np.fft.fft(np.eye(8))),
        ("Y[i] = sqrt(i)*sum[j](exp(-j)) where i in 0:3, j in 0:3", None),
    ],
)
def test_formulas_without_operands(text: str, line: Any) -> None:
    if line is None:
        line = np.sqrt(np.arange(3)) * np.exp(-np.arange(3.0)).sum()
    found = ed.compile(text)
    np.testing.assert_allclose(found(), line, rtol=3e-6, atol=1e-6)
    assert "\n  measured on cpu\n" in str(found)
