"""Calls whose gradient reads the formula's results."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import einderive as ed
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.caller import Caller
from einderive.frontend.training.by_results import by_results
from einderive.frontend.training.kept import kept_bytes
from einderive.frontend.training.saving import Saving
from tests.frontend.autograd.light import light
from tests.frontend.autograd.test_node import QUICK, operands

READ = [
    ("Y[i] = tanh(X[i])", {"X": (5,)}, 5 * 8, torch.tanh),
    ("Y[i] = exp(sum[k](X[i,k]))", {"X": (5, 3)}, 5 * 8, lambda x: x.sum(1).exp()),
    (
        "Y[i] = tanh(sum[k](X[i,k]*w[k]))",
        {"X": (5, 3), "w": (3,)},
        (15 + 3 + 5) * 8,
        lambda x, w: torch.tanh(x @ w),
    ),
]


def way_of(text: str, most: int, **shapes: Any) -> Saving | None:
    program = ed.parse(text, dtypes="float64", **shapes)
    caller = Caller(program, as_written(program, output_types(program)), "cpu")
    related = Related(program, caller, light)
    part = related.gradient(tuple(range(len(program.inputs))), (0,))
    assert part is not None
    return by_results(related, part, most)


@pytest.mark.parametrize(("text", "shapes", "bytes_kept", "plain"), READ)
def test_gradients_and_memory(text: str, shapes: Any, bytes_kept: int, plain: Any) -> None:
    way = way_of(text, 10**9, **shapes)
    assert way is not None
    given = operands(*shapes.values())
    assert kept_bytes(lambda: way(*given)) == bytes_kept <= kept_bytes(lambda: plain(*given))
    assert gradcheck(way, given)
    assert gradgradcheck(way, given)
    assert way_of(text, bytes_kept - 1, **shapes) is None


def test_results_are_kept_as_by_torch() -> None:
    way = way_of("Y[i] = tanh(X[i])", 10**9, X=(5,))
    assert way is not None
    for call in (way, torch.tanh):
        (x,) = operands((5,))
        y = call(x)
        y += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_what_reads_no_result() -> None:
    assert way_of("Y[i] = X[i]^3", 10**9, X=(5,)) is None


def test_no_more_is_kept_than_by_torch() -> None:
    """The gradient of the exponential of a sum reads the terms; torch keeps the result."""
    f = ed.compile("Y[i] = exp(sum[k](X[i,k]))", X=(2000, 8), grad=True, **QUICK)
    x = torch.randn(2000, 8, requires_grad=True)
    plain = kept_bytes(lambda: x.sum(1).exp())
    assert plain == 2000 * 4
    assert kept_bytes(lambda: f(x)) <= plain
