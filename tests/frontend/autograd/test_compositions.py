"""Compositions of `torch.func`, tracing, export and copies, on every formula of the list.

The judge of a composition is torch's autograd, one call after the other, on the same function; its
gradients are those of the plain lines (`test_gradchecks`).
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from einderive.frontend.formulas import Formula
from tests.amount import CAMPAIGN
from tests.frontend.autograd.formulas import (
    ALL,
    Tensors,
    as_tuple,
    compiled,
    parsed,
    requiring,
)
from tests.frontend.autograd.light import light

SMALL = 60
"""Jacobians are computed of formulas whose operands have at most so many elements."""
every_formula = pytest.mark.parametrize("formula", ALL, ids=lambda formula: formula.name)


def loss_of(function: Callable[..., Any], values: Tensors, place: int) -> Callable[..., Any]:
    """A number that depends on the operand at this place, through all outputs of floating types."""

    def loss(x: torch.Tensor) -> torch.Tensor:
        given = [x if k == place else value for k, value in enumerate(values)]
        outputs = [y for y in as_tuple(function(*given)) if y.is_floating_point()]
        # a weight for each element, so that no sum hides an exchange
        parts = [(y * torch.arange(1.0, y.numel() + 1).double().reshape(y.shape)) for y in outputs]
        return torch.stack([part.sum() for part in parts]).sum()

    return loss


def chosen(function: Any, values: Tensors) -> int | None:
    """The first operand by which there is a derivative."""
    given = requiring(values)
    outputs = [y for y in as_tuple(function(*given)) if y.requires_grad]
    if not outputs:
        return None
    total = torch.stack([y.double().sum() for y in outputs]).sum()
    wrt = [k for k, value in enumerate(given) if value.requires_grad]
    slopes = torch.autograd.grad(total, [given[k] for k in wrt], allow_unused=True)
    return next((k for k, slope in zip(wrt, slopes, strict=True) if slope is not None), None)


def second(loss: Callable[..., Any], x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The second derivative along v, by torch's double backward."""
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(loss(x), x, create_graph=True)
    if not slope.requires_grad:
        return torch.zeros_like(x)
    (found,) = torch.autograd.grad(slope, x, v, allow_unused=True)
    return torch.zeros_like(x) if found is None else found


def first(loss: Callable[..., Any], x: torch.Tensor) -> torch.Tensor:
    x = x.clone().requires_grad_()
    return torch.autograd.grad(loss(x), x)[0]


def close(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-9, equal_nan=True)


@CAMPAIGN
@every_formula
@pytest.mark.filterwarnings("ignore")
def test_compositions(formula: Formula) -> None:
    program, values = parsed(formula)
    function = light(program)
    place = chosen(function, values)
    if place is None:
        return
    x, loss = values[place], loss_of(function, values, place)
    batch = torch.stack([x, x * 0.9])
    slopes = torch.stack([first(loss, each) for each in batch])
    close(vmap(grad(loss))(batch), slopes)
    close(grad(lambda batch: vmap(loss)(batch).sum())(batch), slopes)
    torch.manual_seed(3)
    v = torch.randn_like(x)
    curved = second(loss, x, v)
    close(jvp(grad(loss), (x,), (v,)), (slopes[0], curved))
    close(jvp(lambda x: vjp(loss, x)[1](torch.tensor(2.0).double())[0], (x,), (v,))[1], 2 * curved)
    close(vjp(grad(loss), x)[1](v)[0], curved)
    if x.numel() <= SMALL:
        close(jacrev(loss)(x), slopes[0])
        close(jacfwd(loss)(x), slopes[0])
        matrix = hessian(loss)(x).reshape(x.numel(), x.numel())
        close(matrix @ v.reshape(-1), curved.reshape(-1))


class Holding(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *operands: torch.Tensor) -> Any:
        return self.function(*operands)


@CAMPAIGN
@every_formula
@pytest.mark.filterwarnings("ignore")
def test_traces_exports_and_copies(formula: Formula) -> None:
    program, values = parsed(formula)
    function = compiled(program)
    expected = as_tuple(function(*values))

    def agrees(found: Any) -> None:
        for one, other in zip(as_tuple(found), expected, strict=True):
            torch.testing.assert_close(one, other, equal_nan=True)

    for dynamic in (False, True):
        torch.compiler.reset()
        traced = torch.compile(function, fullgraph=True, backend="eager", dynamic=dynamic)
        agrees(traced(*values))
    file = io.BytesIO()
    torch.export.save(torch.export.export(Holding(function), tuple(values)), file)
    file.seek(0)
    agrees(torch.export.load(file).module()(*values))
    agrees(copy.deepcopy(Holding(function))(*values))
    agrees(pickle.loads(pickle.dumps(function))(*values))
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: function(*values), range(8)):
            agrees(found)
