"""Rows that are each the work of all threads, because too few of them would keep these busy."""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import built
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.cost import seconds, share
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import SIZES
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import Memory, check, laid_out, run, same, value_of
from tests.eops.threads import torch_threads

LAYER_NORM = (
    "M[i] = mean[j](X[i,j]); V[i] = mean[j]((X[i,j]-M[i])^2); "
    "Y[i,j] = (X[i,j]-M[i])*rsqrt(V[i] + 1e-5)"
)
SOFTMAX = "Y[i,j] = softmax[j](X[i,j])"
SQUARES = "Y[i] = sum[j](X[i,j]*X[i,j])"
TEXTS = [LAYER_NORM, SOFTMAX, SQUARES]


def group_of(text: str, *shape: int) -> Group:
    written = parse(text, {"X": shape}, "float32").roots()
    return Group(stages(*written), written)


def planned(text: str, *shape: int, threads: int = 2, open_sizes: bool = False) -> Plan:
    group = group_of(text, *shape)
    found = plan(group, dense(group), None, open_sizes, SIZES._replace(threads=threads))
    assert found is not None
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_rows_that_do_not_go_evenly_into_the_threads(text: str) -> None:
    assert planned(text, 3, 1_000_000).together
    assert planned(text, 1, 1_000_000).together
    assert not planned(text, 2, 1_000_000).together
    assert not planned(text, 2000, 1000).together


@pytest.mark.parametrize("text", TEXTS)
def test_short_rows_are_not_worth_the_waiting(text: str) -> None:
    assert not planned(text, 3, 100).together


def test_more_threads_share_more_rows() -> None:
    found = planned(LAYER_NORM, 2, 1_000_000, threads=16)
    assert found.together
    assert str(found).startswith("for i0 in 0:2\nin parallel for a part of each first loop\n")


@pytest.mark.parametrize("text", TEXTS)
def test_a_kernel_for_other_numbers_of_rows_does_not_wait_after_each(text: str) -> None:
    assert not planned(text, 3, 1_000_000, open_sizes=True).together


def test_the_share_of_the_threads_that_work() -> None:
    found = replace(planned(LAYER_NORM, 3, 1_000_000), together=False)
    assert found.pieces == 3
    assert share(found) == 0.75
    assert seconds(replace(found, together=True)) < seconds(found)
    assert share(replace(found, sizes=found.sizes._replace(threads=8))) == 3 / 8


@pytest.mark.parametrize("text", TEXTS)
def test_what_they_compute(text: str) -> None:
    """Every plan, also those that would not be chosen for so little."""
    data = {"X": np.linspace(-1, 2, 21).reshape(3, 7)}
    found = [made for seed in range(4) for made in check(group_of(text, 3, 7), data, Random(seed))]
    assert any(made.together and made.parallel for made in found)


SEVERAL = {
    "a value that waits in a result": (
        "out D[c] = sum[i](X[i,c]); out W[j,c] = V[j,c] - exp(Z[c]); out Y[c] = exp(Z[c])*D[c]",
        {"X": (6, 3), "V": (5, 3), "Z": (3,)},
    ),
    "rows and a result of each": (
        "M[c] = mean[i](X[i,c]); D[c] = sum[i](exp(X[i,c]-M[c]));"
        "out Y[i,c] = exp(X[i,c]-M[c])/D[c]; out Z[c] = exp(D[c])*M[c]",
        {"X": (12, 2)},
    ),
    "nothing is added up": (
        "out Y[i] = exp(A[i]) + s; out Z[j] = exp(B[j]) + s; out T = s*2",
        {"A": (7,), "B": (5,), "s": ()},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), SEVERAL.values(), ids=SEVERAL)
def test_several_results(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    """In any order of the threads: no result is written by two of them."""
    written = parse(text, shapes, "float32").roots()
    group, draw = Group(stages(*written), written), np.random.default_rng(4)
    data = {name: draw.uniform(-1, 1, shape) for name, shape in shapes.items()}
    found = [made for seed in range(12) for made in check(group, data, Random(seed))]
    assert any(made.together for made in found)


def test_no_value_waits_in_a_result_that_every_thread_writes() -> None:
    """A thread that is late would write `exp(Z[c])` over the sums that are there by then."""
    text, _ = SEVERAL["a value that waits in a result"]
    written = parse(text, {"X": (100_000, 10), "V": (50_000, 10), "Z": (10,)}, "float32").roots()
    group = Group(stages(*written), written)
    found = [made for made in plans(group, dense(group)) if made.together]
    assert found
    for made in found:
        kept = [made.stored(v) for p in made.phases if not p.loops for v in p.kept]
        assert all(one is not None and one.output is None for one in kept)


def test_open_sizes_without_totals() -> None:
    text, shapes = SEVERAL["nothing is added up"]
    large = {"A": (300_000,), "B": (200_000,), "s": ()}
    written = parse(text, large, "float32").roots()
    group = Group(stages(*written), written)
    kernel = built(group, dense(group), alike(group, "float32"), True, SIZES)
    data = {name: torch.randn(shape) for name, shape in large.items()}
    y, z, t = kernel(*(data[source.label] for source in group.operands))
    torch.testing.assert_close(y, data["A"].exp() + data["s"])
    torch.testing.assert_close(z, data["B"].exp() + data["s"])
    torch.testing.assert_close(t, data["s"] * 2)
    assert len(shapes) == len(large)


class Late(Memory):
    """A thread that reads the totals of the others late."""

    def load(self, index: int) -> Any:
        time.sleep(0.01)
        return super().load(index)


@pytest.mark.parametrize("text", TEXTS)
def test_no_total_is_lost_to_a_thread_that_is_ahead(text: str) -> None:
    group = group_of(text, 3, 7)
    data = {"X": np.linspace(-1, 2, 21).reshape(3, 7)}
    (together,) = [
        made
        for made in plans(group, dense(group), alike(group, "float64"))
        if made.together and not made.kept
    ][:1]
    (found,) = run(together, [laid_out(data["X"], (7, 1))], team=Late)
    same(found, value_of(group.outputs[0], data))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("text", TEXTS)
def test_any_number_of_threads_may_run_the_kernel(text: str, threads: int) -> None:
    group = group_of(text, 3, 300_001)
    kernel = built(group, dense(group), alike(group, "float32"), False, SIZES)
    assert kernel.plan.together
    data = torch.rand(3, 300_001)
    with torch_threads(threads):
        (found,) = kernel(data)
    wide = data.double()
    expected = {
        LAYER_NORM: torch.nn.functional.layer_norm(wide, (300_001,), eps=1e-5),
        SOFTMAX: wide.softmax(1),
        SQUARES: (wide * wide).sum(1),
    }
    torch.testing.assert_close(found.double(), expected[text], rtol=1e-5, atol=1e-5)
