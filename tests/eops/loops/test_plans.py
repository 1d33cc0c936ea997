"""What a plan reads, computes and keeps, and which stages it is for."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.cost import moved
from einderive.eops.loops.drafts import short_sums
from einderive.eops.loops.drafts.draft import drafted
from einderive.eops.loops.drafts.group import Group, is_view
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.ordered import LONG, _Ordering
from einderive.eops.loops.drafts.values import Choice, Load, Operation
from einderive.eops.loops.fuse import groups
from einderive.eops.loops.plan import Plan
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.eops.loops.interpreted import check

LAYER_NORM = (
    "M[i] = mean[j](X[i,j]); V[i] = mean[j]((X[i,j]-M[i])^2); "
    "Y[i,j] = (X[i,j]-M[i])*rsqrt(V[i] + 1e-5)"
)
SOFTMAX = "Y[i,j] = softmax[j](X[i,j])"
X = (2000, 1000)
BYTES = 4 * 2000 * 1000


def roots(text: str, **shapes: tuple[int, ...]) -> tuple[Scope, ...]:
    return parse(text, shapes or {"X": X}, "float32").roots()


def planned(text: str, **shapes: tuple[int, ...]) -> Plan:
    written = roots(text, **shapes)
    group = Group(stages(*written), written)
    found = plan(group, dense(group))
    assert found is not None, text
    return found


def fused(text: str, **shapes: tuple[int, ...]) -> list[int]:
    """How many stages the groups of the program have."""
    written = roots(text, **shapes)
    reads = {stage: nested_scopes(stage) for stage in stages(*written)}
    return sorted(len(group.stages) for group in groups(reads, list(reads), written))


def words(found: Plan) -> list[str]:
    return [value.word for value in found.values if isinstance(value, Operation)]


def test_what_several_stages_compute_alike_is_computed_once() -> None:
    assert words(planned(LAYER_NORM)).count("+") == 2  # X-M, V+1e-5
    assert words(planned(SOFTMAX)).count("exp") == 1
    assert len(planned("out Y[i] = sum[j](X[i,j]); out Z[i] = 2*sum[j](X[i,j])").reductions) == 1


@pytest.mark.parametrize("text", [LAYER_NORM, SOFTMAX, "Y[j] = sum[i](X[i,j]^2)"])
def test_the_data_are_read_from_memory_once(text: str) -> None:
    found = planned(text)
    assert moved(found) <= 2 * BYTES
    assert len([value for value in found.values if isinstance(value, Load)]) == 1


def test_what_takes_long_is_kept_for_the_row() -> None:
    (kept,) = planned(SOFTMAX).kept
    assert kept.size == X[1]
    assert kept.output is None
    long = (3, 1 << 20)  # too long for the stack
    (kept,) = planned("Y[i,j] = softmax[j](X[i,j])", X=long).kept
    assert kept.output == 0
    spread = "D[i] = mean[j](exp(X[i,j])); V[i] = mean[j]((exp(X[i,j])-D[i])^2)"
    assert planned(spread).kept
    assert not planned(spread, X=long).kept


def test_only_what_may_miss_has_masks() -> None:
    for text in (LAYER_NORM, SOFTMAX, "T[i,j] = 2*X[i,j]; Y[i] = T[i,i+2] where i in 0:9"):
        for value in planned(text).values:
            assert not isinstance(value, Choice)
            assert not (isinstance(value, Load) and value.checked)
    moved_by_one = "Y[i,j] = X[i,j-1] where j in 0:1000"
    (load,) = (v for v in planned(moved_by_one).values if isinstance(v, Load))
    assert [one.row.const for one in load.checked] == [-1]


def test_several_totals_are_one_pass() -> None:
    found = planned(
        "out S[i] = sum[j](X[i,j]); out Q[i] = sum[j](X[i,j]^2); out M[i] = max[j](X[i,j])"
    )
    assert [len(phase.reductions) for phase in found.phases] == [3, 0]


def test_one_total_of_everything_is_the_work_of_all_threads() -> None:
    assert planned("Y = sum[i,j](X[i,j])").together
    assert not planned("Y = sum[i,j](X[i,j])", X=(3, 4)).together
    assert not planned("Y[i] = sum[j](X[i,j])").together


def test_loops_that_are_one_in_memory_are_merged() -> None:
    found = planned("Y[b,c] = mean[h,w](X[b,c,h,w])", X=(4, 8, 30, 30))
    assert sorted(side.extent for side in found.domain if side.extent > 1) == [32, 900]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SOFTMAX, [3]),
        (LAYER_NORM, [5]),
        ("out S[i] = sum[j](X[i,j]); out Z[i,j] = X[i,j]/S[i]", [2]),
        ("R[i] = sum[j](X[i,j]); C[j] = sum[i](X[i,j]); Y[i,j] = X[i,j] - R[i] - C[j]", [1, 2]),
        ("R[i] = sum[j](X[i,j]); Y[i,k] = R[i] + R[k] where i in 0:2000, k in 0:2000", [1, 1]),
        ("T[i,j] = exp(X[i,j]); Y[i] = sum[j,k](T[i,j+k]) where j in 0:900, k in 0:50", [2]),
        ("T[i,j] = exp(X[i,j]); Y[i,k] = max[j](T[i,j] + T[k,j])", [1, 1]),
        ("T[i,j] = 2*X[i,j]; out Y[i] = sum[j](T[i,j]); out Z[j] = sum[i](T[i,j])", [2, 2]),
    ],
)
def test_stages_are_fused_where_that_moves_less(text: str, sizes: list[int]) -> None:
    """Not where a total is read elsewhere than it is made, or where a function were computed many
    times and no window holds what it gives; what is computed easily goes into all that read it."""
    assert fused(text) == sizes


@sampled(2)
@pytest.mark.parametrize(
    "text",
    [
        "out S[j] = sum[i](X[i,j]); out Y[i,j] = 2*X[i,j] + 1",
        "M[j] = max[i](X[i,j]); out Y[i,j] = X[i,j] - M[j]; out S[j] = sum[i](Y[i,j]^2)",
        "S = sum[i,j](X[i,j]); out T[i,j] = X[i,j]/S; out U = max[i,j](T[i,j])",
        "T[i,j] = exp(X[i,j]); Y[i,j] = T[i,j-1] + T[i,j] + T[i-1,j]",
        # rows that lie outside as a whole, before and behind
        "Y[i,j] = X[0,j-3*i+2] + X[1,12-3*i-j] + 1 where i in 0:9, j in 0:5",
        "Y[j] = sum[i](X[i,j]) where i in 1:9",
        # an operand beyond 1 is far, and then the loop runs again
        "Y[i] = sum[j](sin(X[i,j]))",
        # two conditions at one place
        "T[i,j] = X[i,j] + 1; Y[i,j] = T[i-1,j-1] where i in 0:9, j in 0:13",
    ],
)
def test_every_plan_gives_what_the_formula_says(text: str) -> None:
    shape = (9, 13)
    written = roots(text, X=shape)
    group = Group(stages(*written), written)
    inputs = {"X": np.random.default_rng(3).uniform(0.5, 1.5, shape)}
    assert len(check(group, inputs, Random(text))) > 2


def test_a_plan_is_read_as_text() -> None:
    assert str(planned("Y[i,j] = X[i,j]/max[k](X[i,k])", X=(20, 30))) == "\n".join(
        [
            "in parallel for i0 in 0:20",
            "    for i1 in 0:30",
            "        v0 = p0[30 * i0 + i1]",
            "        t0 = max of v0",
            "    for i1 in 0:30",
            "        v0 = p0[30 * i0 + i1]",
            "        v1 = t0",
            "        v2 = v0 / v1",
            "        out0[30 * i0 + i1] = v2",
        ]
    )


def test_terms_of_terms_are_not_written_out() -> None:
    text = "H[b,o] = relu(sum[i](X[b,i]*U[i,o]))\nY[b,o] = sum[i](H[b,i]*V[i,o])"
    written = roots(text, X=(8, 32), U=(32, 32), V=(32, 32))
    group = Group(stages(*written), written)
    assert len(group.reductions) == 2
    assert not [*short_sums.written(group, open_sizes=False)]
    alone = Group.alone(written[0])
    assert [*short_sums.written(alone, open_sizes=False)]


def test_a_value_used_twice_by_each_next_one_is_ordered_by_a_short_key() -> None:
    text = "; ".join(f"T{n}[i] = sin(T{n - 1}[i])*cos(T{n - 1}[i])" for n in range(1, 13))
    written = roots(f"{text}; Y[i] = T12[i]".replace("T0[", "X["), X=(1000,))
    group = Group(stages(*written), written)
    found = drafted(group, dense(group), alike(group, "float32"))
    assert found is not None
    work = _Ordering(found)
    keys = [key for place in range(len(work.draft.values)) for key in work.key(place)]
    assert len(keys) > 2 * 36
    assert max(map(len, keys)) <= LONG


def test_a_window_with_a_border_and_steps_is_vectorised_along_its_rows() -> None:
    text = "Y[c,h,w] = max[r,s](X{fill=-inf}[c,2*h+r-1,2*w+s-1])"
    ends = " where h in 0:50, w in 0:50, r in 0:3, s in 0:3"
    found = planned(text + ends, X=(4, 100, 100))
    assert found.inner is not None
    assert found.group.written


def test_a_view_reads_nothing_backwards() -> None:
    forwards, backwards = (
        roots(f"Y[i] = X[{index}] where i in 0:10", X=(20,))[0] for index in ("2*i", "19-i")
    )
    assert is_view(forwards)
    assert not is_view(backwards)
