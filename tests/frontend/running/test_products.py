"""Narrow products are found where a program's stage has no operator."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import einderive as ed
from einderive.eops.back_ends.narrow_products import NARROW_PRODUCTS
from einderive.frontend.running.execute import executable, task_of

Shapes = dict[str, tuple[int, ...]]


@pytest.mark.parametrize(
    ("text", "shapes", "narrow"),
    [
        ("Y[i,o] = X[i,j]*W[o,j]", {"X": (300, 40), "W": (10, 40)}, True),
        ("Y[u,i,o] = X[u,i,j]*W[j,o]/2", {"X": (7, 50, 40), "W": (40, 10)}, True),
        ("Y[i,o] = X[i,j]*W[o,j]", {"X": (300, 40), "W": (200, 40)}, False),
        ("Y[i,o] = sum[j](X[i,j]*exp(W[o,j]))", {"X": (300, 40), "W": (10, 40)}, False),
        ("Y[i,o] = max[j](X[i,j]*W[o,j])", {"X": (300, 40), "W": (10, 40)}, False),
        ("Y[i,o] = X[i+j]*W[o,j] where i in 0:300", {"X": (339,), "W": (10, 40)}, True),
    ],
)
def test_a_stage_without_an_operator(text: str, shapes: Shapes, narrow: bool) -> None:
    found = ed.derive(text, budget=ed.Budget(states=1), **shapes)
    given = found.unchanged
    bare = tuple(stage._replace(operator=None, binding=None) for stage in given.stages)
    plan = replace(given, stages=bare)
    last = task_of(bare[-1], "cpu", compiled=True)
    assert (last.binding is not None and last.alone) is narrow
    run, plain = executable(plan, "cpu", compiled=True), executable(given, "cpu")
    assert (NARROW_PRODUCTS.word in run.words) is narrow
    inputs = {tensor: torch.randn(tensor.shape) for tensor in found.source.inputs}
    torch.testing.assert_close(run(inputs)[0], plain(inputs)[0], rtol=1e-4, atol=1e-4)


def test_torch_runs_it_where_nothing_is_compiled() -> None:
    given = ed.derive(
        "Y[i,o] = X[i,j]*W[o,j]", budget=ed.Budget(states=1), X=(300, 40), W=(10, 40)
    ).unchanged
    (stage,) = (s._replace(operator=None, binding=None) for s in given.stages)
    assert task_of(stage, "cpu").binding is None


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("terms", "columns", "kernels"),
    [(3, 3, 1), (2, 2, 1), (4, 4, 1), (3, 16, 1), (5, 4, 2), (3, 8, 2)],
)
def test_a_product_of_few_terms_is_a_part_of_what_follows(
    terms: int, columns: int, kernels: int
) -> None:
    """Unless its rows are neither written out nor vectors, or it has more terms."""
    shapes = {"X": (30_000, terms), "W": (terms, columns)}
    found = ed.derive(
        "Y[i,o] = tanh(sum[j](X[i,j]*W[j,o]))", budget=ed.Budget(states=1), **shapes
    ).unchanged
    run = executable(found, "cpu", compiled=True)
    assert len(run.words) == kernels
    assert (NARROW_PRODUCTS.word in run.words) is (kernels == 2)
    x, w = (torch.randn(shape) for shape in shapes.values())
    given = {"X": x, "W": w}
    inputs = {t: given[t.name] for t in ed.parse("Y[i,o] = X[i,j]*W[j,o]", **shapes).inputs}
    torch.testing.assert_close(run(inputs)[0], torch.tanh(x @ w), rtol=1e-5, atol=1e-6)
