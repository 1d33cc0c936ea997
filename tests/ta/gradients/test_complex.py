"""Derivatives of complex formulas: proved for pairs of conjugates; wrong ones are refused."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

import einderive as ed
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Function
from einderive.ta.gradients.program import Derived
from einderive.ta.gradients.proof import decide
from tests.amount import sampled
from tests.ta.gradients.complex_formulas import FORMULAS as COMPLEX
from tests.ta.gradients.complex_formulas import C, R

TWO: Final[Any] = {"Z": (3,), "A": (3,)}
STATED: Final = [known for known in FUNCTIONS.values() if known.adjoint]


@sampled(12)
@pytest.mark.parametrize(("text", "dtypes", "shapes"), COMPLEX)
def test_derivatives_are_proved(text: str, dtypes: dict[str, str], shapes: dict[str, Any]) -> None:
    gradient = ed.grad(text, dtypes=dtypes, **shapes)
    assert gradient.check().kind == "evaluated"
    assert ed.jvp(text, dtypes=dtypes, **shapes).check().kind == "evaluated"
    assert ed.grad(gradient).check().kind == "evaluated"


@pytest.mark.parametrize(
    ("text", "gradient"),
    [
        ("Y[i,j] = A[i,k]*conj(B[k,j])", "dA[i,k] = B[k,j]*dY[i,j]"),
        ("Y[i] = abs(A[i])", "dA[i] = dY[i]*sign(A[i])"),
        ("Y[i] = conj(A[i])^2", "dA[i] = 2*conj(A[i])*conj(dY[i])"),
        ("Y[i] = real(A[i])", "dA[i] = dY[i]"),
        ("Y[i] = imag(A[i])", "dA[i] = dY[i]*1j"),
    ],
)
def test_gradients_are_short(text: str, gradient: str) -> None:
    shapes = {"A": (3, 4), "B": (4, 2)} if "B" in text else {"A": (3,)}
    assert str(ed.grad(text, wrt="A", dtypes=C, **shapes)) == gradient


def test_types_are_those_of_what_they_belong_to() -> None:
    found = ed.grad("Y[i] = abs(Z[i])*A[i]", dtypes={"Z": "complex64", "A": "float32"}, **TWO)
    types = {tensor.name: tensor.dtype for tensor in found.inputs}
    assert types == {"Z": "complex64", "A": "float32", "dY": "float32"}
    found = ed.grad("Y[i] = Z[i]*A[i]", dtypes={"Z": C, "A": R}, **TWO)
    assert {tensor.name: tensor.dtype for tensor in found.inputs}["dY"] == C


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Y[i] = A[i]*A[i]", "dA[i] = 2*A[i]*dY[i]"),
        ("Y[i] = abs(A[i])*1j", "dA[i] = -1j*sign(A[i])*dY[i]"),
        ("Y[i] = abs(A[i])*1j", "dA[i] = imag(dY[i])*conj(sign(A[i]))"),
        ("Y[i] = imag(A[i])*A[i]", "dA[i] = 1j*dY[i]*conj(A[i]) + imag(A[i])*dY[i]"),
        ("Y[i] = conj(A[i])", "dA[i] = 1*dY[i] + 0*A[i]"),
        ("Y[i] = sign(A[i])", "dA[i] = 0*A[i]*dY[i]"),
    ],
)
def test_wrong_gradients_are_refused(text: str, wrong: str) -> None:
    found = ed.grad(text, dtypes=C, A=(3,))
    assert found.of is not None
    other = ed.parse(wrong, dtypes=C, A=(3,), dY=(3,))
    derived = Derived(other, {"Y": "dY"}, {"A": "dA"})
    decision = decide(found.of, derived, found.of.inputs, forward=False)
    assert decision.difference is not None
    assert decision.difference.output == "dA"


@pytest.mark.parametrize("known", STATED, ids=lambda known: known.name)
def test_adjoints_and_tangents_of_functions(known: Function) -> None:
    """<w, tangent(g)> = <adjoint(w), g>, and the tangent is a difference of values."""
    generator = np.random.default_rng(0)
    x, g, w = generator.standard_normal((3, 2, 50)).view(np.complex128).reshape(3, 50)
    space = {name: FUNCTIONS[name].real for name in ("conj", "real", "imag", "sign", "abs")}
    space["where"] = lambda condition, then, otherwise: np.where(condition, then, otherwise)

    def value(text: str, g: Any) -> Any:
        return eval(text, {**space, "x": x, "g": g})

    real = known.name in ("abs", "real", "imag")
    w = w.real if real else w
    left, right = np.conj(w) * value(known.tangent, g), np.conj(value(known.adjoint, w)) * g
    np.testing.assert_allclose(left.real, right.real, rtol=1e-9)
    slope = (known.real(x + 1e-6 * g) - known.real(x - 1e-6 * g)) / 2e-6
    np.testing.assert_allclose(value(known.tangent, g), slope, rtol=1e-6, atol=1e-6)
