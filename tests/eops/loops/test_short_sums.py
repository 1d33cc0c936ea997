"""Short sums without totals: beside the exact interpreter, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import build
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.short_sums import written
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled

WINDOWS = {
    "mean of 3 x 3": (
        "Y[h,w] = sum[r,s](A[h+r,w+s])/9 where h in 0:30, w in 0:38, r in 0:3, s in 0:3"
    ),
    "with a border": "Y[h,w] = A[h+r-1,w+s-2]*K[r,s] where h in 0:32, w in 0:40",
    "maximum, a stride": (
        "Y[h,w] = max[r,s](A{fill=-inf}[2*h+r-1,w+s-1]) "
        "where h in 0:16, w in 0:40, r in 0:3, s in 0:2"
    ),
    "minimum": "Y[h,w] = min[s](A[h,w+s]) where h in 0:32, w in 0:36, s in 0:5",
    "product": "Y[h,w] = prod[s](1 + A[h,w+s]/8) where h in 0:32, w in 0:34, s in 0:7",
    "root of a sum": "Y[h,w] = sqrt(sum[s](A[h,w+s]^2)) where h in 0:32, w in 0:35, s in 0:6",
    "two results": (
        "Y[h,w] = sum[s](A[h,w+s]) where h in 0:32, w in 0:38, s in 0:3;"
        "Z[h,w] = max[s](A[h,w+s]) where h in 0:32, w in 0:38, s in 0:3"
    ),
    "a small product of three matrices": "T[i,k] = B[i,j]*C[j,k]; Y[i,l] = T[i,k]*D[k,l]",
}
SHAPES = {"A": (32, 40), "K": (3, 5), "B": (5, 6), "C": (6, 7), "D": (7, 8)}


def group_of(text: str) -> Group:
    shapes = {name: shape for name, shape in SHAPES.items() if name in text}
    program = parse(text, shapes, "float32")
    roots = program.roots()
    return Group(tuple(stages(*roots)), tuple(roots))


@sampled(8)
@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize("name", WINDOWS)
def test_short_sums_have_no_totals(name: str, open_sizes: bool) -> None:
    group = group_of(WINDOWS[name])
    typing = alike(group, "float32")
    kernel = build(group, dense(group), typing, open_sizes)
    assert kernel.plan.group.written
    assert not kernel.plan.reductions
    generator = torch.Generator().manual_seed(1)
    data = {
        source.label: torch.randn([side.extent for side in source.ranges], generator=generator)
        for source in group.operands
    }
    next(iter(data.values()))[3, 4] = torch.nan
    found = kernel(*(data[source.label] for source in group.operands))
    given = {label: value.double().numpy() for label, value in data.items()}
    for stage, result in zip(kernel.plan.outputs, found, strict=True):
        expected = evaluate(stage.scope, given, RealField())
        np.testing.assert_allclose(result.numpy(), expected, rtol=2e-6, atol=2e-6)
        assert np.isnan(expected).any()


@pytest.mark.parametrize(
    ("text", "open_sizes"),
    [
        ("Y[h] = sum[w](A[h,w])", False),  # too long
        ("Y[h,w] = A[h,w+s]*K[0,0] where h in 0:32, w in 0:20, s in 0:20", True),  # a size
        ("Y[h,w] = 2*A[h,w]", False),  # no sum
        ("T[i,k] = B[i,j]*C[j,k]; U[i,l] = T[i,k]*D[k,l]; Y[i,m] = U[i,l]*D[m,l]", False),  # long
    ],
)
def test_others_have_totals(text: str, open_sizes: bool) -> None:
    assert not [*written(group_of(text), open_sizes=open_sizes)]


@pytest.mark.parametrize(
    "rest",
    [
        "Y[h,w] = S[h,w] + S[h+1,w] where h in 0:31, w in 0:38",  # read at two places
        "Y[h,w] = sum[s](S[h,w+s]) where h in 0:32, w in 0:36, s in 0:3",  # by a sum
    ],
)
def test_sums_that_are_read_often_are_not_written_out(rest: str) -> None:
    text = "S[h,w] = sum[s](A[h,w+s]) where h in 0:32, w in 0:38, s in 0:3; " + rest
    assert not [*written(group_of(text), open_sizes=False)]


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_functions_of_short_sums_over_two_loops_are_computed_in_vectors(columns: int) -> None:
    """Rows that are written out would be computed number by number."""
    text = "Y[x,q] = tanh(sin(sum[d](u[x,d]*c[d,q])))"
    roots = parse(text, {"u": (5000, 2), "c": (2, columns)}).roots()
    group = Group(stages(*roots), roots)
    found = plan(group, dense(group))
    assert found is not None
    assert found.inner is not None
    assert not found.reductions
