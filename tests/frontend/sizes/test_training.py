"""Gradients, batches and layers at sizes that were not searched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.frontend.compile import anew

DISTANCES = "Y[i,j] = (A[i,k] - B[j,k])^2"
OPTIONS: dict[str, Any] = {"budget": ed.Budget(states=30), "seconds": 0.01, "remember": False}


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is searched, as text."""
    found: list[str] = []
    search = anew.derive

    def derive(program: Any, **options: Any) -> Any:
        found.append(str(program))
        return search(program, **options)

    monkeypatch.setattr(anew, "derive", derive)
    return found


def trained(f: Any, line: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """The call and its gradients are those of the line."""
    given = [torch.randn(shape, requires_grad=True) for shape in shapes]
    for _ in range(2):
        y, wanted = f(*given), line(*given)
        seed = torch.randn(wanted.shape)
        torch.testing.assert_close(y, wanted, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            torch.autograd.grad(y, given, seed),
            torch.autograd.grad(wanted, given, seed),
            rtol=1e-4,
            atol=1e-4,
        )


def squares(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a[:, None] - b).square().sum(2)


def test_gradients_and_batches_are_made_again(searches: list[str]) -> None:
    f = ed.compile(DISTANCES, A=("n", 5), B=(9, 5), n=11, **OPTIONS)
    trained(f, squares, (11, 5), (9, 5))
    b = torch.randn(9, 5)
    torch.func.vmap(f, in_dims=(0, None))(torch.randn(3, 11, 5), b)
    known = len(searches)
    assert known >= 3  # the formula, its gradient, the formula over a batch
    for n in (20, 3):
        trained(f, squares, (n, 5), (9, 5))
    many = torch.randn(4, 11, 5)
    found = torch.func.vmap(f, in_dims=(0, None))(many, b)
    torch.testing.assert_close(found, torch.stack([squares(a, b) for a in many]))
    assert len(searches) == known
    assert f.searches == 1


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.campaign)])
def test_the_last_batch_of_an_epoch(searches: list[str], compiled: bool) -> None:
    layer = ed.nn.Formula(
        "Y[b,o] = relu(sum[i](X[b,i]*W[o,i]) + c[o])", W=(6, 4), c=(6,), options=OPTIONS
    )

    def line(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ layer.W.T + layer.c)

    call = torch.compile(layer, backend="eager") if compiled else layer
    trained(call, line, (8, 4))
    known = len(searches)
    assert known >= 2
    for batch in (5, 13):
        trained(call, line, (batch, 4))
    assert len(searches) == known
    assert layer.searches == 1
