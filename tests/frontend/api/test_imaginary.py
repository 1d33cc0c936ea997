"""The imaginary unit: parsed, printed, evaluated as NumPy has it, derived, compiled, and refused
where numbers are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.ta.errors import EinderiveError
from einderive.ta.exact.fields import ComplexField
from einderive.ta.exact.interp import evaluate

DFT = "y[k] = sum[n](exp(-2*pi*1j*k*n/N)*x[n]) where k in 0:N"
X = np.random.default_rng(3).normal(size=8)
FEW = ed.Budget(states=20)


@pytest.mark.parametrize(
    ("text", "type_of_x", "expected"),
    [
        (DFT, "float64", np.fft.fft(X)),
        (DFT, "float32", np.fft.fft(X)),
        (DFT, "complex128", np.fft.fft(X)),
        (
            "W[k,n] = exp(2j*pi*k*n/N) where k in 0:N, n in 0:N; y[k] = W[k,n]*x[n]/N",
            "float64",
            np.fft.ifft(X),
        ),
        ("y[k] = (x[k] + .5J*N)^2", "float64", (X + 4j) ** 2),
        ("u[i] = 1j*x[i]; y[k] = u[k]*u[k] + 0*N", "float32", -X * X),
        ("u[i] = 1j*x[i] + 2; y[k] = conj(u[k])*u[k]*1j + 0*N", "float64", 1j * (X * X + 4)),
    ],
)
def test_values_are_numpys(text: str, type_of_x: str, expected: Any) -> None:
    x = X.astype(type_of_x)
    found = ed.evaluate(text, x=x, N=8, budget=FEW)
    wide = type_of_x != "float32"
    assert found.dtype == ("complex128" if wide else "complex64")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 if wide else 2e-5)

    program = ed.parse(text, x=x, N=8)
    assert ed.parse(str(program), x=x, y=(8,)).roots() == program.roots()
    (root,) = program.roots()
    np.testing.assert_allclose(evaluate(root, {"x": X}, ComplexField()), expected, atol=1e-13)
    assert ed.derive(text, x=x, N=8, budget=FEW).check()


def test_integers_beside_it_become_complex() -> None:
    found = ed.evaluate("y[i] = x[i] + 2j", x=np.arange(3))
    assert found.dtype == np.complex64
    np.testing.assert_array_equal(found, np.arange(3) + 2j)
    np.testing.assert_array_equal(ed.evaluate("y[i] = 2.5j", y=(2,)), [2.5j, 2.5j])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parts_of_earlier_statements(dtype: str) -> None:
    text = "u[i] = x[i] + 1j*x[(i+1)%8]; v[i] = imag(u[i])*real(u[i]); w[i] = angle(conj(u[i]))"
    x = X.astype(dtype)
    product, angle = ed.evaluate(text, x=x, budget=FEW)
    u = x + 1j * np.roll(x, -1)
    np.testing.assert_allclose(product, u.imag * u.real, rtol=1e-5)
    np.testing.assert_allclose(angle, np.angle(u.conj()), rtol=1e-5)
    assert product.dtype == angle.dtype == dtype


def test_it_prints_as_in_mathematics() -> None:
    program = ed.parse("y[i] = 3j*x[i]", x=(4,))
    assert str(program) == "y[i] = 3*x[i]*1j"
    assert r"\mathrm{i}" in program.latex()


@pytest.mark.parametrize(
    "text", ["y[i] = max(1j, x[i])", "y = max[i](1j*x[i])", "y[i] = x[i] < 1j"]
)
def test_complex_numbers_have_no_order(text: str) -> None:
    with pytest.raises(EinderiveError, match="complex ones have no order"):
        ed.evaluate(text, x=X, budget=FEW)


def test_no_verdict_is_wrong() -> None:
    assert ed.equivalent("y[i] = (x[i] + 1j)*(x[i] - 1j)", "y[i] = x[i]^2 - 1j^2", x=(3,))
    for one, other in (("1j*1j", "-1"), ("exp(1j*pi)", "-1")):
        assert ed.equivalent(f"y = {one} + 0*x", f"y = {other} + 0*x", x=())
    assert not ed.equivalent("y = 1j*x", "y = x", x=())


@pytest.mark.parametrize(
    ("text", "laws", "law"),
    [
        ("y[i] = abs(z[i])^2", [], "abs-square"),
        ("y[i] = conj(conj(z[i])*w[i])", ["conj-product"], "conj-conj"),
        ("y[i] = real(z[i]) + 1j*imag(z[i])", [], "from-parts"),
        ("y[i] = real(conj(z[i])*w[i])", ["parts-of-product"], "parts-of-product"),
    ],
)
def test_laws_of_parts_in_a_derivation(text: str, laws: list[str], law: str) -> None:
    z, w = X[:6] + 1j * X[2:], X[2:] - 2j * X[:6]
    given = {"z": z, "w": w} if "w[" in text else {"z": z}
    derivation = ed.derive(text, budget=FEW, laws=laws, **given)
    steps = [step for plan in derivation.candidates for step in plan.steps]
    assert any(law in step.witness.words(step.before) for step in steps)
    assert derivation.check()
    expected = eval(text[6:].replace("[i]", "").replace("^", "**"), NUMPYS, given)
    found = ed.evaluate(text, budget=FEW, laws=laws, **given)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


NUMPYS = {"abs": np.abs, "conj": np.conj, "real": np.real, "imag": np.imag}


def test_a_law_does_not_make_a_complex_result_real() -> None:
    z = X + 1j
    found = ed.evaluate("y[i] = z[i]*conj(z[i])", z=z, laws=["product-with-conj"], budget=FEW)
    assert found.dtype == "complex128"
