"""`nn.Formula`: a layer like any other of torch."""

from __future__ import annotations

import copy
import io
from math import sqrt
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.ta.errors import FormulaSyntaxError, NameUnknownError, OperandError

LINEAR = "Y[b,o] = tanh(sum[i](X[b,i]*W[o,i]) + c[o])"
OPTIONS: dict[str, Any] = {"budget": ed.Budget(states=30), "seconds": 0.005}


def linear(**given: Any) -> ed.nn.Formula:
    return ed.nn.Formula(LINEAR, W=(6, 4), c=(6,), options=OPTIONS, **given)


def plain(layer: ed.nn.Formula, x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(torch.nn.functional.linear(x, layer.W, layer.c))


@pytest.fixture(scope="module")
def layer() -> ed.nn.Formula:
    torch.manual_seed(0)
    return linear()


def test_it_looks_like_a_module(layer: ed.nn.Formula) -> None:
    assert repr(layer) == f"Formula({LINEAR!r}, W=(6, 4), c=(6,))"
    assert [name for name, _ in layer.named_parameters()] == ["W", "c"]
    assert layer.operands == ("X",)


def test_parameters_are_drawn_as_those_of_linear() -> None:
    torch.manual_seed(1)
    layer = ed.nn.Formula(LINEAR, W=(500, 400), c=(500,))
    other = torch.nn.Linear(400, 500)
    for own, theirs in ((layer.W, other.weight), (layer.c, other.bias)):
        assert own.abs().max() <= 1 / sqrt(400)
        torch.testing.assert_close(own.std(), theirs.std(), rtol=0.1, atol=0)
    # n is 3*5*5 for a convolution
    conv = ed.nn.Formula(
        "Y[b,o,h,w] = sum[c,r,s](X[b,c,h+r,w+s]*K[o,c,r,s])*a[o]", K=(8, 3, 5, 5), a=(8,),
        init={"a": torch.nn.init.ones_},
    )  # fmt: skip
    assert 0.8 / sqrt(75) < conv.K.abs().max() <= 1 / sqrt(75)
    assert (conv.a == 1).all()


def test_it_is_trained_and_takes_any_batch(layer: ed.nn.Formula) -> None:
    for _ in range(2):
        x = torch.randn(3, 4, requires_grad=True)
        wrt = [x, layer.W, layer.c]
        slopes = torch.autograd.grad(layer(x).square().sum(), wrt)
        expected = torch.autograd.grad(plain(layer, x).square().sum(), wrt)
        torch.testing.assert_close(slopes, expected, rtol=1e-4, atol=1e-5)
    x = torch.randn(1, 4)
    torch.testing.assert_close(layer(x), plain(layer, x))
    assert len(layer._functions) == 2


def test_a_known_call_looks_up_no_function(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x, y = linear(), torch.randn(3, 4), torch.randn(5, 4)
    for given in (x, y):
        layer(given)
    monkeypatch.setattr(ed.nn.Formula, "_compiled", None)
    for _ in range(2):
        given = torch.randn(5, 4)
        torch.testing.assert_close(layer(given), plain(layer, given))
        with torch.no_grad():
            layer.W.add_(1)
    monkeypatch.undo()
    torch.testing.assert_close(layer(x), plain(layer, x))
    wide = copy.deepcopy(layer).double()
    torch.testing.assert_close(wide(x.double()), plain(wide, x.double()))
    replaced = {"W": torch.ones(6, 4), "c": torch.zeros(6)}
    found = torch.func.functional_call(layer, replaced, (x,))
    torch.testing.assert_close(found, torch.tanh(x @ torch.ones(4, 6)))


def test_evaluation_follows_the_parameters() -> None:
    layer = ed.nn.Formula("Y[i] = X[i]*exp(k[i])", k=(4,), options=OPTIONS).eval()
    x = torch.randn(4)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(layer(x), x * layer.k.exp())
            layer.k.add_(1)
        (function,) = layer._functions.values()
        assert function.derivation.weights == ("k",)
    assert layer(x).requires_grad


def test_copies_states_and_types(layer: ed.nn.Formula) -> None:
    x = torch.randn(3, 4)
    expected, file = layer(x), io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    other = linear()
    other.load_state_dict(layer.state_dict())
    for found in (copy.deepcopy(layer), torch.load(file, weights_only=False), other):
        torch.testing.assert_close(found(X=x), expected)
        with torch.no_grad():
            found.W.zero_()
    torch.testing.assert_close(layer(x), expected)
    double = copy.deepcopy(layer).to(torch.float64)
    torch.testing.assert_close(double(x.double()), expected.double(), rtol=1e-5, atol=1e-6)
    assert double(x.double()).dtype is torch.float64


@pytest.mark.filterwarnings("ignore")
def test_it_is_traced(layer: ed.nn.Formula) -> None:
    torch.compiler.reset()
    x = torch.randn(3, 4, requires_grad=True)
    model = torch.nn.Sequential(layer, torch.nn.Linear(6, 2))
    traced = torch.compile(model, backend="aot_eager", fullgraph=True)
    slopes = torch.autograd.grad(traced(x).square().sum(), [x, layer.W])
    expected = torch.autograd.grad(model(x).square().sum(), [x, layer.W])
    torch.testing.assert_close(slopes, expected)
    exported = torch.export.export(model, (x.detach(),))
    torch.testing.assert_close(exported.module()(x), model(x))


def test_sizes_and_several_operands() -> None:
    layer = ed.nn.Formula(
        "Y[i] = sum[k](w[k]*X[i-k])*s where i in 0:m, k in 0:n", w=(3,), n=3, m=7, options=OPTIONS
    )
    assert layer.operands == ("X", "s")
    assert "n=3" in repr(layer)
    x = torch.randn(7)
    padded = torch.nn.functional.pad(x, (2, 0)).unfold(0, 3, 1).flip(1)
    torch.testing.assert_close(layer(x, s=2.0), 2 * padded @ layer.w)


def test_what_is_refused(layer: ed.nn.Formula) -> None:
    with pytest.raises(FormulaSyntaxError):
        ed.nn.Formula("Y[i] = W[i", W=(3,))
    with pytest.raises(NameUnknownError, match="V"):
        ed.nn.Formula(LINEAR, V=(3,))
    with pytest.raises(NameUnknownError, match="X"):
        ed.nn.Formula(LINEAR, W=(6, 4), init={"X": torch.nn.init.ones_})
    for args, named in (((), {}), ((1, 2), {}), ((), {"Z": 1})):
        with pytest.raises(OperandError, match="called with"):
            layer(*args, **named)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"options": {"effrt": 1}}, "did you mean effort"),
        ({"options": {"dtypes": "float64"}}, "give dtype="),
        ({"options": ["effort"]}, "a dictionary"),
        ({"W": "a"}, "tuple of whole numbers"),
        ({"W": (-1, 5)}, "negative size"),
        ({"dtype": torch.int64}, "cannot have the type int64"),
    ],
)
def test_what_is_given_wrongly_is_refused_at_once(given: Any, message: str) -> None:
    with pytest.raises(ed.EinderiveError, match=message):
        ed.nn.Formula("Y[b,o] = X[b,i]*W[o,i]", **{"W": (3, 5), **given})
