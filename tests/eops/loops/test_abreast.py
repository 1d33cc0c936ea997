"""A few columns: several rows lie abreast in one run of the inner loop, and totals are folded."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import built
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import SIZES
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import SMALL, Values, laid_out, run, same, value_of
from tests.eops.threads import torch_threads

STANDARD = (
    "M[c] = mean[i](X[i,c]); V[c] = mean[i]((X[i,c]-M[c])^2); "
    "Y[i,c] = (X[i,c]-M[c])*rsqrt(V[c] + 1e-5)"
)
TEXTS = [
    STANDARD,
    "Y[c] = sum[i](X[i,c])",
    "Y[c] = max[i](X[i,c])",
    "out L[c] = min[i](X[i,c]); out H[c] = max[i](X[i,c])",
    "Y[i,c] = softmax[i](X[i,c])",
    "Y[b,c] = sum[i](X[b,i,c]^2)",
]
OTHERWISE = [
    "Y[c] = sum[i](W[i]*X[i,c])",
    "Y[c] = sum[i](W[c]*X[i,c])",
    "Y[c] = sum[i](X[i,c-1])",
    "Y[c] = sum[i](where(i > c, X[i,c], 0))",
    "Y[c] = sum[i](i*X[i,c])",
    "Y[c] = sum[i,j](X[i,j,c])",
]
"""A step of a run is not done as the others are, or does not follow the one before in memory."""


def group_of(text: str, rows: int, columns: int) -> Group:
    shape: tuple[int, ...] = (rows, columns)
    if "X[b,i,c]" in text:
        shape = (2, rows, columns)
    if "X[i,j,c]" in text:
        shape = (rows, 5, 2 * columns)
    shapes = {"X": shape}
    if "W" in text:
        shapes["W"] = (rows if "W[i]" in text else columns,)
    ranges = {"c": (0, columns)}
    written = parse(text, shapes, "float32", ranges=ranges).roots()
    return Group(stages(*written), written)


def planned(text: str, rows: int, columns: int, *, open_sizes: bool = False) -> Plan:
    group = group_of(text, rows, columns)
    found = plan(group, dense(group), None, open_sizes)
    assert found is not None
    return found


@pytest.mark.parametrize("columns", [2, 3, 10, 64])
@pytest.mark.parametrize("text", TEXTS)
def test_a_few_columns(text: str, columns: int) -> None:
    found = planned(text, 100_000, columns)
    assert 512 <= found.abreast * columns < 1024
    assert found.abreast * columns % 16 == 0
    assert found.together == (len(found.parallel) == 0)
    assert f", {found.abreast} times abreast" in str(found)


@pytest.mark.parametrize("text", TEXTS)
def test_wide_or_few_rows_and_other_sizes(text: str) -> None:
    assert planned(text, 100_000, 1000).abreast == 1
    assert planned(text, 40, 10).abreast == 1
    assert planned(text, 100_000, 10, open_sizes=True).abreast == 1


@pytest.mark.parametrize("text", OTHERWISE)
def test_runs_in_which_each_step_is_another(text: str) -> None:
    assert planned(text, 10_000, 10).abreast == 1


def test_columns_that_are_not_one_after_the_other_in_memory() -> None:
    group = group_of(TEXTS[1], 10_000, 10)
    found = plan(group, ((11, 1),))
    assert found is not None
    assert found.abreast == 1


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("rows", [12, 13, 40, 41, 47])
def test_what_they_compute(text: str, rows: int) -> None:
    """All plans, alone and by three threads, with rows that do not go evenly into the runs."""
    group = group_of(text, rows, 2)
    shape = tuple(side.extent for side in group.operands[0].ranges)
    data: Values = {"X": np.random.default_rng(1).standard_normal(shape)}
    strides = dense(group)
    made = [one for one in plans(group, strides, sizes=SMALL) if one.abreast > 1]
    assert {one.together for one in made} == {True, False}
    for one in made:
        for found, output in zip(
            run(one, [laid_out(data["X"], *strides)]), group.outputs, strict=True
        ):
            same(found, value_of(output, data), str(one))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("rows", [16, 17, 21, 23])
def test_two_rows_abreast(text: str, rows: int) -> None:
    """Of three columns, four pairs at once, with and without threads that share them."""
    group = group_of(text, rows, 3)
    shape = tuple(side.extent for side in group.operands[0].ranges)
    data: Values = {"X": np.random.default_rng(2).standard_normal(shape)}
    strides, sizes = dense(group), SMALL._replace(least_tile=4, jam=4)
    made = [one for one in plans(group, strides, sizes=sizes) if one.abreast == 2]
    assert {one.together for one in made} == {True, False}
    for one in made:
        memory = [laid_out(data["X"], *strides)]
        for found, output in zip(run(one, memory), group.outputs, strict=True):
            same(found, value_of(output, data), str(one))


@pytest.mark.parametrize("text", TEXTS)
def test_a_run_is_of_whole_rows(text: str) -> None:
    """Three columns are two blocks where two are one; only all together have runs then."""
    group = group_of(text, 16, 3)
    found = plans(group, dense(group), sizes=SMALL)
    assert any(one.blocks > 1 for one in found)
    assert any(one.abreast > 1 for one in found)
    assert all(one.blocks == 1 for one in found if one.abreast > 1)


def test_small_sizes_make_runs_of_random_programs() -> None:
    """The sizes with which random programs are planned in tests."""
    group = group_of(TEXTS[1], 12, 2)
    found = plans(group, dense(group), sizes=SMALL)
    assert any(made.abreast > 1 for made in found)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("columns", [2, 3, 10, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("text", [STANDARD, TEXTS[2]])
def test_compiled(text: str, columns: int, threads: int, dtype: str) -> None:
    """More threads than it was planned for share no totals: three threads run it as two."""
    rows = 70_001
    group = group_of(text, rows, columns)
    kernel = built(group, dense(group), alike(group, dtype), False, SIZES)
    assert kernel.plan.abreast > 1
    assert (kernel.threads, kernel.team) == (2, 2 * kernel.plan.exchanged)
    data = torch.randn(rows, columns).to(getattr(torch, dtype))
    with torch_threads(threads):
        (found,) = kernel(data)
    wide = data.double()
    variance, mean = torch.var_mean(wide, 0, correction=0)
    expected = (wide - mean) * (variance + 1e-5).rsqrt() if text is STANDARD else wide.amax(0)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
