"""Rows that are done in batches, pass by pass."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.batches import batched
from einderive.eops.loops.cost import near, steps
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.plan import Plan, Window
from einderive.eops.loops.sizes import SIZES
from tests.eops.loops.interpreted import SMALL, laid_out, run, same, value_of
from tests.eops.loops.programs import data, grouped

LOG_SUM_EXP = "Y[i] = logsumexp[k](X[i,k])"
LAYER_NORM = (
    "M[i] = mean[k](X[i,k]); V[i] = mean[k]((X[i,k]-M[i])^2);Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+1)"
)
SOFTMAX = "Y[i,j] = softmax[j](X[i,j])"
NORM = "Y[i] = sqrt(sum[k](X[i,k]^2))"


def chosen(text: str, *shape: int) -> Plan:
    group = grouped(text, {"X": shape})
    found = plan(group, dense(group))
    assert found is not None
    return found


@pytest.mark.parametrize("text", [LOG_SUM_EXP, LAYER_NORM, SOFTMAX, NORM])
@pytest.mark.parametrize("columns", [32, 100])
def test_short_rows_whose_passes_wait_are_done_in_batches(text: str, columns: int) -> None:
    """As many as lie in the nearest cache."""
    found = chosen(text, 4000, columns)
    assert found.batch % found.sizes.least_batch == 0
    assert found.row == 0
    assert found.pieces == -(-4000 // found.batch)
    assert near(found) <= found.sizes.batch_bytes
    assert near(found) == found.batch * near(replace(found, batch=1))
    assert f"by {found.batch}, pass by pass" in str(found)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("Y[i,k] = X[i,k] - mean[j](X[i,j])", (4000, 100)),  # one wait, for no function
        ("Y[i] = sum[k](X[i,k])", (4000, 100)),
        (LOG_SUM_EXP, (4000, 10)),  # written out
        (LOG_SUM_EXP, (400, 4000)),  # 16 rows are more than the nearest cache
        (LOG_SUM_EXP, (12, 100)),  # fewer than a batch
        (LOG_SUM_EXP, (1, 100)),  # no loop over rows
    ],
)
def test_other_rows_are_done_one_by_one(text: str, shape: tuple[int, ...]) -> None:
    found = chosen(text, *shape)
    assert found.batch == 1
    assert found.row is None


def test_functions_of_totals_are_passes_of_their_own() -> None:
    """Only what later passes read is kept."""
    found = chosen(LAYER_NORM, 4000, 64)
    alone = [phase for phase in found.phases if not phase.loops]
    assert [len(phase.kept) for phase in alone] == [1]
    assert not chosen(LOG_SUM_EXP, 4000, 64).kept  # its logarithm is a result
    text = "S[i] = sum[k](X[i,k]^2); Y[i,k] = X[i,k]/(1 + exp(sqrt(S[i]))) + mean[j](X[i,j]/S[i])"
    found = chosen(text, 4000, 64)
    read = {place for n in range(len(found.phases)) for place in found.needed[n]}
    for one in found.kept:
        assert one.value in read
    source = Emitter(found).source()
    for k in (one.value for one in found.kept):
        assert f"v{k} = load(k{k}, i0 - row)" in source
    assert source.count("sqrt_float32") == 1


def test_a_batch_has_fewer_rows_where_more_threads_share_them() -> None:
    group = grouped(LOG_SUM_EXP, {"X": (512, 32)})
    found = [
        plan(group, dense(group), sizes=SIZES._replace(threads=threads))
        for threads in (2, 16, 32, 64)
    ]
    assert [one.batch for one in found if one is not None] == [64, 32, 16, 1]


@pytest.mark.parametrize("text", [LOG_SUM_EXP, LAYER_NORM, SOFTMAX, NORM])
@pytest.mark.parametrize("shape", [(4, 6), (7, 5), (2, 4, 5)])
def test_results_are_those_of_the_interpreter(text: str, shape: tuple[int, ...]) -> None:
    """Also where the last batch has fewer rows, and where rows lie in planes."""
    if len(shape) == 3:
        text = text.replace("i,", "h,i,").replace("[i]", "[h,i]")
    group = grouped(text, {"X": shape})
    inputs = data(group.outputs, Random(text))
    expected = [value_of(out, inputs) for out in group.outputs]
    strides = dense(group)
    if len(shape) == 3:
        strides = ((50, 7, 1),)  # planes and rows lie apart
    found = [p for p in plans(group, strides, alike(group, "float64"), SMALL) if p.row is not None]
    assert found
    for made in found:
        arrays = [value_of(source, inputs) for source in group.operands]
        operands = [laid_out(a, s) for a, s in zip(arrays, strides, strict=True)]
        for result, wanted in zip(run(made, operands), expected, strict=True):
            same(result, wanted)


def test_plans_of_other_kinds_have_no_batches() -> None:
    group = grouped(LOG_SUM_EXP, {"X": (40, 6)})
    found = plans(group, dense(group), sizes=SMALL)
    assert any(one.inner is not None for one in found)
    assert any(one.together for one in found)
    for one in found:
        if one.inner is not None or one.together:
            assert batched(one) is None
    (rows, *_) = [one for one in found if one.row is not None]
    assert batched(replace(rows, batch=1, windows=(Window(0, "float32", (), ()),))) is None
    alone = replace(rows, batch=1)
    assert batched(alone) is not None
    assert batched(replace(alone, inner=alone.parallel[-1])) is None
    assert alone.row is None
    assert steps(alone) == steps(rows)
