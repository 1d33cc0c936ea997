"""Complex formulas under torch's autograd: `gradcheck` and `gradgradcheck`, values at 0, `opcheck`,
types of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import jvp, vjp, vmap
from torch.library import opcheck

import einderive as ed
from einderive.frontend.call.caller import Caller
from tests.amount import CAMPAIGN
from tests.frontend.autograd.light import light
from tests.ta.gradients.complex_formulas import FORMULAS, C, R

every_formula = pytest.mark.parametrize(("text", "dtypes", "shapes"), FORMULAS)


def operands(function: Any, *, seed: int = 0) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    return [
        torch.randn(t.shape, dtype=getattr(torch, t.dtype)).requires_grad_()
        if t.dtype != "int64"
        else torch.randint(0, 4, t.shape)
        for t in function.inputs
    ]


@CAMPAIGN
@every_formula
@pytest.mark.filterwarnings("ignore")
def test_derivatives_are_slopes(text: str, dtypes: Any, shapes: Any) -> None:
    function = light(text, dtypes=dtypes, **shapes)
    given = operands(ed.parse(text, dtypes=dtypes, **shapes))
    assert gradcheck(function, given, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(function, given)


@CAMPAIGN
@every_formula
@pytest.mark.filterwarnings("ignore")
def test_compiled_functions(text: str, dtypes: Any, shapes: Any) -> None:
    function = ed.compile(
        text, dtypes=dtypes, effort="instant", target="cpu", remember=False, **shapes
    )
    given = operands(ed.parse(text, dtypes=dtypes, **shapes))
    assert gradcheck(function, given, check_forward_ad=True)
    operator = function._operator_text()
    found = opcheck(torch.ops.einderive.formula.default, (given, operator))
    assert set(found.values()) == {"SUCCESS"}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Y[i] = abs(Z[i])", torch.abs),
        ("Y[i] = sign(Z[i])", torch.sgn),
        ("Y[i] = real(Z[i]) + imag(Z[i])", lambda z: z.real + z.imag),
        ("Y[i] = conj(Z[i])*Z[i]", lambda z: z.conj() * z),
        ("Y = prod[i](Z[i])", torch.prod),
        ("Y[i] = abs(Z[i])^2", lambda z: z.abs() ** 2),
        ("Y = sqrt(sum[i](abs(Z[i])^2))", torch.linalg.norm),
    ],
)
def test_zeros_are_as_in_torch(text: str, plain: Callable[[torch.Tensor], torch.Tensor]) -> None:
    z = torch.tensor([0, 1 - 2j, 0.5j], dtype=torch.complex128).requires_grad_()
    found, expected = light(text, dtypes=C, Z=(3,))(z), plain(z)
    torch.testing.assert_close(found, expected.to(found.dtype))
    seed = torch.randn_like(expected)
    (one,) = torch.autograd.grad(found, z, seed.to(found.dtype))
    (other,) = torch.autograd.grad(expected, z, seed)
    torch.testing.assert_close(one, other)


def test_real_operands_have_real_gradients() -> None:
    f = light("Y[i] = A[i]*Z[i]", dtypes={"A": R, "Z": C}, A=(3,), Z=(3,))
    a = torch.randn(3, dtype=torch.float64, requires_grad=True)
    z = torch.randn(3, dtype=torch.complex128, requires_grad=True)
    seed = torch.randn(3, dtype=torch.complex128)
    found, expected = (torch.autograd.grad(y, (a, z), seed) for y in (f(a, z), a * z))
    assert found[0].dtype == torch.float64
    torch.testing.assert_close(found, expected)


def test_transformations() -> None:
    f: Caller = light("Y[i] = abs(sum[k](A[i,k]*Z[k]))", dtypes=C, A=(2, 3), Z=(3,))

    def plain(a: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return (a @ z).abs()

    torch.manual_seed(0)
    a, z = (torch.randn(*shape, dtype=torch.complex128) for shape in ((2, 3), (4, 3)))
    torch.testing.assert_close(vmap(f, (None, 0))(a, z), vmap(plain, (None, 0))(a, z))
    for transform in (tangents, cotangents):
        found, expected = (vmap(transform(g, a), 0)(z) for g in (f, plain))
        torch.testing.assert_close(found, expected)


def tangents(f: Callable[..., Any], a: torch.Tensor) -> Callable[..., Any]:
    return lambda z: jvp(f, (a, z), (a.conj(), 2j * z))


def cotangents(f: Callable[..., Any], a: torch.Tensor) -> Callable[..., Any]:
    return lambda z: vjp(f, a, z)[1](torch.arange(2).double())
