"""What does not fit is refused in traced code as in any other call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import einderive as ed
from einderive.ta.errors import EinderiveError, OperandError
from tests.amount import sampled
from tests.frontend.autograd.test_node import LAYER, QUICK, SHAPES, operands

Call = Callable[..., Any]
Compiled = ed.CompiledFunction


@pytest.fixture(scope="module")
def layer() -> Compiled:
    return ed.compile(LAYER, dtypes="float64", **QUICK, **SHAPES)


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch.compiler.reset()


CALLS: dict[str, Callable[[Call], Call]] = {
    "missing": lambda f: lambda x, w, c: f(x, w),
    "missing by name": lambda f: lambda x, w, c: f(X=x, c=c),
    "none": lambda f: lambda x, w, c: f(),
    "too many": lambda f: lambda x, w, c: f(x, w, c, c),
    "another name": lambda f: lambda x, w, c: f(x, w, d=c),
    "one more name": lambda f: lambda x, w, c: f(x, w, c, d=c),
    "twice": lambda f: lambda x, w, c: f(x, w, W=w),
    "shape": lambda f: lambda x, w, c: f(x, w[:1], c),
    "dimensions": lambda f: lambda x, w, c: f(x, w, c[0]),
    "integers": lambda f: lambda x, w, c: f(x, w, c.long()),
    "complex": lambda f: lambda x, w, c: f(x, w, torch.complex(c, c)),
    "text": lambda f: lambda x, w, c: f(x, w, "c"),
    "nothing": lambda f: lambda x, w, c: f(x, w, None),
    "number": lambda f: lambda x, w, c: f(x, w, 1.0),
}


class Module(torch.nn.Module):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call

    def forward(self, *given: torch.Tensor) -> Any:
        return self.call(*given)


def fake(call: Call, given: list[torch.Tensor]) -> Any:
    with FakeTensorMode() as mode:
        return call(*map(mode.from_tensor, given))


WAYS: dict[str, Callable[[Call, list[torch.Tensor]], Any]] = {
    "compile": lambda call, given: torch.compile(call, fullgraph=True, backend="eager")(*given),
    "dynamic": lambda call, given: torch.compile(
        call, fullgraph=True, dynamic=True, backend="eager"
    )(*given),
    "export": lambda call, given: torch.export.export(Module(call), tuple(given), strict=False),
    "strict": lambda call, given: torch.export.export(Module(call), tuple(given), strict=True),
    "vmap": lambda call, given: torch.func.vmap(call, (0, None, None))(given[0][None], *given[1:]),
    "grad": lambda call, given: torch.func.grad(lambda x: call(x, *given[1:]).sum())(given[0]),
    "jvp": lambda call, given: torch.func.jvp(
        lambda x: call(x, *given[1:]), (given[0],), (given[0],)
    ),
    "make_fx": lambda call, given: make_fx(call)(*given),
    "symbolic": lambda call, given: make_fx(call, tracing_mode="symbolic")(*given),
    "fake": fake,
}


@sampled(8)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrong", CALLS)
@pytest.mark.parametrize("way", WAYS)
def test_the_error_is_that_of_the_plain_call(layer: Compiled, way: str, wrong: str) -> None:
    given, call = operands(requires=False), CALLS[wrong](layer)
    with pytest.raises(OperandError) as plain:
        call(*given)
    with pytest.raises(OperandError) as traced:
        WAYS[way](call, given)
    assert str(traced.value).startswith(str(plain.value))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["compile", "export", "make_fx"])
def test_named_sizes(way: str) -> None:
    named: dict[str, Any] = {"X": ("n", 3), "W": (2, 3), "c": (2,), "n": 4}
    f = ed.compile(LAYER, dtypes="float64", **QUICK, **named)
    given = operands((6, 3), (2, 3), (2,), requires=False)
    for wrong in ("missing", "too many", "shape"):
        call = CALLS[wrong](f)
        with pytest.raises(EinderiveError) as plain:
            call(*given)
        with pytest.raises(type(plain.value)) as traced:
            WAYS[way](call, given)
        assert str(traced.value).startswith(str(plain.value))


@pytest.mark.filterwarnings("ignore")
def test_a_layer_in_one_graph() -> None:
    layer = ed.nn.Formula(LAYER, W=(2, 3), c=(2,), options={**QUICK}, dtype=torch.float64)
    (x,) = operands((4, 3), requires=False)
    calls: list[Call] = [
        lambda x: layer(),
        lambda x: layer(x, x),
        lambda x: layer(x, d=x),
        lambda x: layer(x[:, :2]),
    ]
    for call in calls:
        with pytest.raises(EinderiveError) as plain:
            call(x)
        torch.compiler.reset()
        with pytest.raises(type(plain.value)) as traced:
            torch.compile(call, fullgraph=True, backend="eager")(x)
        assert str(traced.value).startswith(str(plain.value))
