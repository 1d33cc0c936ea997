"""The operators of torch for compiled functions, under the transformations of `torch.func`: values
are compared with torch's on the plain line, alone and in code that torch compiles."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
import torch

import einderive as ed
from tests.amount import sampled
from tests.frontend.autograd.test_node import QUICK, operands
from tests.frontend.autograd.test_transformations import TEXT, TRANSFORMATIONS, plain

SHAPES: dict[str, Any] = {"A": (2, 3), "x": (3,)}
NUMBERS = count()
"""Of operators, which torch keeps: tests of this file may be run in several parts."""


@pytest.fixture(scope="module")
def function() -> ed.CompiledFunction:
    return ed.compile(TEXT, dtypes="float64", **QUICK, **SHAPES)


@pytest.fixture(scope="module")
def operator(function: ed.CompiledFunction) -> Any:
    made = function.as_torch_op(f"under_transformations_{next(NUMBERS)}")
    return lambda a, x: made(a, x)


@sampled(2)
@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_an_operator_is_transformed(operator: Any, name: str) -> None:
    a, x = operands((2, 3), (3,), requires=False)
    found = TRANSFORMATIONS[name](operator, a, x)
    torch.testing.assert_close(found, TRANSFORMATIONS[name](plain, a, x))


@sampled(2)
@pytest.mark.parametrize("name", TRANSFORMATIONS)
@pytest.mark.filterwarnings("ignore")
def test_a_function_is_transformed_in_compiled_code(
    function: ed.CompiledFunction, name: str
) -> None:
    """Tangents too, which were 0 where torch's own registration of gradients was used."""
    torch.compiler.reset()
    a, x = operands((2, 3), (3,), requires=False)
    traced = torch.compile(
        lambda a, x: TRANSFORMATIONS[name](function, a, x), backend="aot_eager", fullgraph=True
    )
    torch.testing.assert_close(traced(a, x), TRANSFORMATIONS[name](plain, a, x))


def test_derivatives_of_an_operator(operator: Any) -> None:
    given = operands((2, 3), (3,))
    torch.autograd.gradcheck(operator, given, check_forward_ad=True, check_batched_grad=True)
    torch.autograd.gradgradcheck(operator, given)


def test_operands_of_other_kinds_and_several_outputs() -> None:
    f = ed.compile("Y[i] = x[i]^2*y[i]; n = sum[i](x[i] > 0)", x=(3,), y=(3,), **QUICK)
    op = f.as_torch_op("of_two_kinds")
    x, y = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([2.0, 1.0, -1.0])
    _, (dY, dn) = torch.func.jvp(lambda x: op(x, y), (x,), (y,))
    torch.testing.assert_close(dY, 2 * x * y * y)
    assert dn == 0
    assert torch.equal(
        torch.func.vmap(op, (0, None))(torch.stack([x, -x]), y)[1], torch.tensor([2, 1])
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("requires", [False, True])
def test_the_older_tracer_notes_down_the_operator(requires: bool) -> None:
    """`torch.jit.trace`: results of a compiled loop would stand in the graph as constants."""
    f = ed.compile("Y[i,j] = sum[k](abs(A[i,k]-B[j,k]))", A=(5, 3), B=(4, 3), **QUICK)
    a, b, c = operands((5, 3), (4, 3), (5, 3), requires=False)
    a, b, c = a.float(), b.float().requires_grad_(requires), c.float()
    f(a, b)
    for _ in range(2):  # by the flat function too
        f(a, b)
        traced: Any = torch.jit.trace(lambda a, b: 2 * f(a, b), (a, b))
        kinds = [node.kind() for node in traced.graph.nodes()]
        assert kinds.count("einderive::formula") == 1
        torch.testing.assert_close(traced(c, b), 2 * f(c, b))
    if requires:
        torch.testing.assert_close(
            torch.autograd.grad(traced(c, b).sum(), b), torch.autograd.grad(2 * f(c, b).sum(), b)
        )


@pytest.mark.filterwarnings("ignore")
def test_the_older_tracer_on_a_layer_in_evaluation() -> None:
    layer = ed.nn.Formula(
        "Y[b,o] = sum[i](X[b,i]*exp(W[o,i]))", W=(3, 5), options={"effort": "instant"}
    ).eval()
    x, z = torch.ones(4, 5), torch.arange(20.0).reshape(4, 5)
    traced: Any = torch.jit.trace(layer, (x,))
    with torch.no_grad():
        layer.W.mul_(2)
        torch.testing.assert_close(traced(z), z @ layer.W.exp().T)
