"""A compiled function as an operator of torch: alone, checked by torch, and in compiled code."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch.library import opcheck

import einderive as ed
from einderive.frontend.stages import ELEMENTS, STAGES, Stage
from einderive.ta.errors import TextError
from tests.amount import CAMPAIGN

SOFTMAX = "Y[i,j] = softmax[j](X[i,j]); Z[j] = sum[i](X[i,j]*w[j])"


@pytest.fixture(scope="module")
def function() -> ed.CompiledFunction:
    return ed.compile(SOFTMAX, budget=0.1, seconds=0.1, X=(5, 7), w=(7,))


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(5, 7, generator=generator), torch.randn(7, generator=generator)


def test_torch_finds_nothing_wrong_with_it(function: ed.CompiledFunction) -> None:
    op = function.as_torch_op("checked")
    x, w = operands()
    assert set(opcheck(op, (x, w)).values()) == {"SUCCESS"}
    strided = torch.randn(7, 5).T
    assert set(opcheck(op, (strided, w)).values()) == {"SUCCESS"}


def test_it_computes_the_formula_under_its_name(function: ed.CompiledFunction) -> None:
    function.as_torch_op("named")
    x, w = operands()
    for y, z in (torch.ops.einderive.named(x, w), torch.ops.einderive.named(w=w, X=x)):
        torch.testing.assert_close(y, torch.softmax(x, 1))
        torch.testing.assert_close(z, (x * w).sum(0))


def test_compiled_code_holds_it_as_one_call(function: ed.CompiledFunction) -> None:
    op = function.as_torch_op("inside")
    graphs: list[torch.fx.GraphModule] = []

    def backend(module: torch.fx.GraphModule, example: list[torch.Tensor]) -> object:
        graphs.append(module)
        return module.forward

    def around(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y, z = op(2 * x, w)
        return y.sum(0) + z

    compiled = torch.compile(around, backend=backend, fullgraph=True)
    x, w = operands()
    expected = torch.softmax(2 * x, 1).sum(0) + (2 * x * w).sum(0)
    torch.testing.assert_close(compiled(x, w), expected)
    calls = [node for node in graphs[0].graph.nodes if node.target is op]
    assert len(calls) == 1
    eager = torch.compile(around, backend="eager", fullgraph=True)
    torch.testing.assert_close(eager(x, w), expected)


@CAMPAIGN
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_torch_finds_nothing_wrong_with_any_stage(stage: Stage) -> None:
    """Of each kind, in each type, and with operands that lie in any way."""
    least = ELEMENTS[0]
    operands = stage.tensors(stage.values(least))
    options: Any = {**operands, **stage.beside(least)}
    op = ed.compile(stage.text, budget=0.05, seconds=0.02, **options).as_torch_op(
        "stage_" + re.sub(r"\W+", "_", stage.name)
    )
    given = tuple(operands[argument.name] for argument in op._schema.arguments)
    assert set(opcheck(op, given).values()) == {"SUCCESS"}


def test_results_are_contiguous_as_is_stated() -> None:
    op = ed.compile("Y[j,i] = X[i,j]", X=(3, 4)).as_torch_op("turned")
    x = torch.randn(3, 4)
    found = op(x)
    assert found.is_contiguous()
    assert torch.equal(found, x.T)
    x.zero_()
    assert found.any()
    assert set(opcheck(op, (x,)).values()) == {"SUCCESS"}


def test_types_of_results_are_stated() -> None:
    op = ed.compile("Y[i] = X[i] > 0; n = sum[i](X[i] > 0)", X=(9,)).as_torch_op("counted")
    assert set(opcheck(op, (torch.randn(9),)).values()) == {"SUCCESS"}
    assert op(torch.ones(9))[0].dtype is torch.bool


def test_misfits_are_refused_while_torch_traces(function: ed.CompiledFunction) -> None:
    op = function.as_torch_op("strict")
    x, w = operands()
    with pytest.raises(ed.EinderiveError, match="shape"):
        op(x[:4], w)
    with pytest.raises(ed.EinderiveError, match="element type"):
        op(x.double(), w)
    with torch._subclasses.FakeTensorMode(), pytest.raises(ed.EinderiveError, match="shape"):
        op(torch.empty(4, 7), torch.empty(7))


def test_gradients_go_through_it(function: ed.CompiledFunction) -> None:
    op = function.as_torch_op("with_gradient")
    x, w = operands()
    y, z = op(x.requires_grad_(), w.requires_grad_())
    expected = torch.softmax(x, 1), (x * w).sum(0)
    for found, wanted in ((y, expected[0]), (z, expected[1])):
        slopes, others = (
            torch.autograd.grad(each[0].sin().sum(), [x, w], retain_graph=True, allow_unused=True)
            for each in (found, wanted)
        )
        torch.testing.assert_close(slopes, others)


def test_a_name_belongs_to_one_function(function: ed.CompiledFunction) -> None:
    assert function.as_torch_op("mine::one") is function.as_torch_op("mine::one")
    other = ed.compile("Y[i] = 2*X[i]", X=(3,))
    with pytest.raises(TextError, match="another function"):
        other.as_torch_op("mine::one")
    for name in ("", "a b", "a::b::c", "1st", 3):
        with pytest.raises(TextError, match="name"):
            other.as_torch_op(name)  # type: ignore[arg-type]
