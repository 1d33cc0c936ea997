"""Which loops a pass has, in which order, and what is one piece of work, at the bounds of each
choice."""

from __future__ import annotations

import pytest

from einderive.eops.loops.arrange import FEW, dense, plan, plans
from einderive.eops.loops.drafts.short_sums import written
from einderive.eops.loops.drafts.values import Load
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import SIZES
from tests.eops.loops.programs import grouped, require_right

SUMS = "Z[i] = sum[j](X[i+j]) where i in 0:20, j in 0"
SQUARE = (200, 200)
ALONG = "out A[i,j] = X[i,j+1]-X[i,j] where i in 0:199, j in 0:199; "
DOWN = "out B[i,j] = X[i+1,j]-X[i,j] where i in 0:199, j in 0:199"


def every(text: str, **shapes: tuple[int, ...]) -> tuple[Plan, ...]:
    group = grouped(text, shapes)
    return plans(group, dense(group))


def best(text: str, **shapes: tuple[int, ...]) -> Plan:
    group = grouped(text, shapes)
    found = plan(group, dense(group))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("length", "block"), [(100, 100), (8191, 8191), (8192, 4096), (100_000, 4096)]
)
def test_long_loops_are_cut(length: int, block: int) -> None:
    found = best("Y[i] = X[i] + 1", X=(length,))
    assert found.block == block
    assert found.pieces == -(-length // block)


@pytest.mark.parametrize(
    ("shape", "turned"), [((16, 16), True), ((2000, 15), False), ((15, 2000), False)]
)
def test_tiles_of_what_is_turned(shape: tuple[int, int], turned: bool) -> None:
    found = every("Y[j,i] = X[i,j]", X=shape)
    assert any(one.turned is not None for one in found) == turned


@pytest.mark.parametrize(
    ("text", "shapes", "order"),
    [
        ("S[k] = sum[i,j](X[k,i]*Z[k,j])", {"X": (5, 30), "Z": (5, 20)}, "ij"),  # the last one
        ("S = sum[i,j](A[i,j]*B[j,i]*C[i,j])", {"A": (30, 20), "B": (20, 30), "C": (30, 20)}, "ij"),
        ("S = sum[i,j](A[i,j]*B[j,i]*C[j,i])", {"A": (30, 20), "B": (20, 30), "C": (20, 30)}, "ji"),
        ("S = sum[i,j](A[i,j]*B[j,i])", {"A": (30, 7), "B": (7, 30)}, "ji"),  # j is too short
        ("S = sum[i,j](A[i,j]*B[j,i])", {"A": (30, 8), "B": (8, 30)}, "ji"),
        ("S = sum[i,j](A[i,j]*A[i,j+1]*B[j,i]) where j in 0:8", {"A": (30, 9), "B": (8, 30)}, "ij"),
        ("S = sum[i,j](A[i,j]*A[i,j+1]*B[j,i]) where j in 0:7", {"A": (30, 8), "B": (7, 30)}, "ji"),
    ],
)
def test_the_inner_loop_of_a_sum(text: str, shapes: dict[str, tuple[int, ...]], order: str) -> None:
    """Most reads walk along it, and it has at least eight steps."""
    found = next(one for one in every(text, **shapes) if one.inner is None and one.reductions)
    (loops,) = {phase.loops for phase in found.phases if phase.loops}
    first, second = loops
    extents = {"i": 30, "j": shapes["Z" if "Z" in shapes else "B"][-1 if "Z" in shapes else 0]}
    assert [found.domain[i].extent for i in (first, second)] == [extents[name] for name in order]


def test_two_results_of_shifted_reads_are_written_one_after_the_other() -> None:
    assert [phase.outputs for phase in best(ALONG + DOWN, X=SQUARE).phases] == [(0,), (1,)]
    other = DOWN.replace("B", "A").replace("-", "+") + "; " + DOWN
    assert [phase.outputs for phase in best(other, X=SQUARE).phases] == [(0, 1)]


def test_totals_that_threads_tell_each_other() -> None:
    found = best("S = sum[i,j](X[i,j]^2)", X=(2000, 1000))
    assert found.together
    assert found.exchanged == 1


@pytest.mark.parametrize(("rows", "together"), [(FEW, True), (FEW + 1, False)])
def test_pieces_of_work_are_shared_where_there_are_few(rows: int, together: bool) -> None:
    found = every("Y[i,j] = softmax[j](X[i,j])", X=(rows, 300))
    by_rows = [one for one in found if one.inner is None]
    assert any(one.together for one in by_rows) == together


def test_values_of_two_loops_are_kept_apart() -> None:
    """Each point has a place of its own, also where a loop does not begin at 0."""
    text = (
        "D[i] = sum[j,k](exp(X[i,j,k]*W[k,j])) where i in 0:3, j in 0:4, k in 2:7; "
        "Y[i,j,k] = exp(X[i,j,k]*W[k,j])/D[i] where i in 0:3, j in 0:4, k in 2:7"
    )
    shapes = {"X": (3, 4, 7), "W": (7, 4)}
    assert 4 * 5 in {one.size for found in every(text, **shapes) for one in found.kept}
    require_right(text, shapes)


@pytest.mark.parametrize(("length", "output"), [(SIZES.kept, None), (SIZES.kept + 1, 0)])
def test_what_is_kept_lies_on_the_stack_or_in_the_result(length: int, output: int | None) -> None:
    kept = [one.kept for one in every("Y[i,j] = softmax[j](X[i,j])", X=(3, length)) if one.kept]
    assert kept
    assert {one.output for some in kept for one in some if one.size == length} == {output}


def test_cheap_values_are_not_kept() -> None:
    found = every("S[j] = sum[i](X[i,j]); Y[i,j] = X[i,j]*W[j] + S[j]", X=(300, 40), W=(40,))
    assert len(found) > 3
    assert not [k for one in found for k in one.kept if isinstance(one.values[k.value], Load)]


@pytest.mark.parametrize("text", ["Y[i,j] = softmax[j](X[i,j])", "S[j] = sum[i](X[i,j])"])
def test_no_plan_is_offered_twice(text: str) -> None:
    found = every(text, X=(300, 40))
    assert len(found) == len({repr(one) for one in found})


@pytest.mark.parametrize(
    ("text", "shape", "short"),
    [
        ("Y[i] = sum[j](X[i+j]) where i in 0:9, j in 0:32", (40,), True),
        ("Y[i] = sum[j](X[i+j]) where i in 0:9, j in 0:33", (41,), False),
        (f"{SUMS}:8; Y[i] = sum[k](Z[i+k]) where i in 0:9, k in 0:8", (40,), True),
        (f"{SUMS}:8; Y[i] = sum[k](Z[i+k]) where i in 0:9, k in 0:9", (40,), False),
        (f"{SUMS}:8; Y[i,l] = sum[k](Z[i+k]*l) where i in 0:8, k in 0:8, l in 0:16", (40,), True),
        (f"{SUMS}:8; Y[i,l] = sum[k](Z[i+k]*l) where i in 0:8, k in 0:8, l in 0:17", (40,), False),
        (f"{SUMS}:13; Y[i] = sum[k](Z[i+k]) where i in 0:9, k in 0:5", (40,), False),
        (f"{SUMS}:2; Y[i,l] = sum[k](Z[i+k]*l) where i in 0:8, k in 0:8, l in 0:65", (40,), False),
        (f"{SUMS}:8; W[i] = Z[i]^2; Y[i] = sum[k](W[i+k]) where i in 0:9, k in 0:8", (40,), True),
        (f"{SUMS}:8; W[i] = Z[i]^2; Y[i] = sum[k](W[i+k]) where i in 0:9, k in 0:9", (40,), False),
        (f"{SUMS}:8; Y[i] = Z[i] + exp(Z[i])", (40,), True),
        (f"{SUMS}:8; Y[i] = Z[i]*Z[i+1] where i in 0:9", (40,), False),  # read at two places
    ],
)
def test_short_sums_are_written_out(text: str, shape: tuple[int, ...], short: bool) -> None:
    assert bool([*written(grouped(text, {"X": shape}), open_sizes=False)]) == short


@pytest.mark.parametrize(("terms", "short"), [(16, True), (17, False)])
def test_a_sum_of_a_size_stays_where_sizes_are_open(terms: int, short: bool) -> None:
    text = f"T[i] = exp(X[i]); Y[i] = sum[j](T[i+j]) + X[i]*T[i+1] where i in 0:9, j in 0:{terms}"
    group = grouped(text, {"X": (40,)})
    found = [*written(group, open_sizes=True)]
    assert [len(one.written) for one in found] == [1] * short
