"""The benchmark of calls: what it counts, on programs that are known."""

from __future__ import annotations

import pytest
import torch

import einderive as ed
from einderive.frontend.bench import call as bench_call
from einderive.frontend.bench.suite import Case
from einderive.frontend.call.replay import computing
from tests.amount import first


def test_computing_calls_and_views_are_counted() -> None:
    f = ed.compile("Y[i,j] = A[i,k]*B[j,k]", A=(4, 5), B=(3, 5), target="cpu", seconds=0.01)
    operands = [torch.randn(4, 5), torch.randn(3, 5)]
    run, calls, views = computing(f.recorded(*operands), operands)
    assert (calls, views) == (1, 1)  # one product, of a transposed view
    assert run() is None


def test_a_row_has_a_time_for_each_way_to_call() -> None:
    found = bench_call.row(Case("sum", "Y[i] = A[i]+B[i]", {"A": (8,), "B": (8,)}))
    assert (found.operands, found.calls) == (2, 1)
    assert min(found.torch_us, found.numpy_us, found.compute_us) > 0


def test_what_is_allowed_grows_with_views() -> None:
    row = bench_call.Row("name", 2, 1, 3, torch_us=12.0, numpy_us=17.5, compute_us=1.0)
    assert row.allowed == 11.0
    assert row.holds == (True, False)
    assert row._replace(numpy_us=16.9).holds == (True, True)
    assert row._replace(torch_us=12.1).holds == (False, False)


@pytest.mark.parametrize("equation", first(2, bench_call.EQUATIONS))
def test_every_equation_is_timed_in_four_ways(equation: str) -> None:
    assert min(bench_call.einsum_row(equation, 8)) > 0
