"""The reindexing theorem, case by case: what it proves, what it refuses, what exactness adds."""

from __future__ import annotations

import pytest

from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope
from einderive.ta.printing.show import show
from tests.derivations.seeds import read
from tests.oracle import equal


def x(position: int, factor: int = 1, plus: int = 0) -> Row:
    return affine.shift(affine.scale(affine.iterator(position), factor), plus)


def both(left: Row, right: Row, factor: int = 1) -> Row:
    return affine.add(left, right, factor)


def same_sums(scope: Scope, *ranges: tuple[int, int]) -> ReindexSums:
    """The reduction iterators as they are, over other ranges."""
    rows = tuple(x(len(scope.loops) + s) for s in range(len(scope.sums)))
    return ReindexSums(rows, rows, tuple(Range(*bound) for bound in ranges))


def same_loops(scope: Scope, *ranges: tuple[int, int]) -> ReindexLoops:
    rows = tuple(x(i) for i in range(len(scope.loops)))
    return ReindexLoops(rows, rows, tuple(Range(*bound) for bound in ranges))


def proved(scope: Scope, witness: Witness) -> str:
    """What the witness gives, judged by the interpreter."""
    after = kernel.apply(scope, witness)
    assert after.loops == scope.loops
    assert equal(scope, after) is None
    return show(after)


def refusal(scope: Scope, witness: Witness, *, exact: bool = True) -> str:
    with pytest.raises(RuleRefused) as refused:
        kernel.apply(scope, witness, exact=exact)
    return str(refused.value)


CONV = read("{L[h:0:6] S[r:0:3] A[h+r-1]*K[r]}", A=(6,), K=(3,))
PLAIN = read("{L[i:0:4] A[i]}", A=(4,))


def test_loops_may_be_computed_on_more_than_is_read() -> None:
    assert proved(PLAIN, same_loops(PLAIN, (-2, 9))) == "{L[i:0:4] {L[i:-2:9] A[i]}[i]}"


def test_loops_may_shrink_to_where_the_body_is_not_zero() -> None:
    scope = read("{L[i:-3:9] A[i]*B[i+1]}", A=(4,), B=(3,))
    assert proved(scope, same_loops(scope, (0, 2))) == ("{L[i:-3:9] {L[i:0:2] A[i]*B[i+1]}[i]}")
    assert "not shown to be 0" in refusal(scope, same_loops(scope, (1, 2)))
    assert "not shown to be 0" in refusal(scope, same_loops(scope, (0, 1)))


def test_loops_grow_on_one_side_and_shrink_on_the_other() -> None:
    scope = read("{L[i:0:6] A[i]}", A=(4,))
    assert proved(scope, same_loops(scope, (-3, 4))) == "{L[i:0:6] {L[i:-3:4] A[i]}[i]}"


def test_a_loop_that_the_body_does_not_use_is_dropped() -> None:
    scope = read("{L[i:0:4,j:0:5] A[j]}", A=(5,))
    witness = ReindexLoops((Row(0), x(0)), (x(1),), (Range(0, 5),))
    assert proved(scope, witness) == "{L[i:0:4,j:0:5] {L[j:0:5] A[j]}[j]}"
    used = read("{L[i:0:4,j:0:5] A[j]*B[i]}", A=(5,), B=(4,))
    assert "is not the old one" in refusal(used, witness)


def test_loops_that_occur_only_together_become_one() -> None:
    scope = read("{L[i:0:3,j:0:4] A[4*i+j]}", A=(12,))
    quotient, rest = affine.floordiv(x(0), 4), affine.modulo(x(0), 4)
    fuse = ReindexLoops((quotient, rest), (both(x(1), x(0, 4)),), (Range(0, 12),))
    assert proved(scope, fuse) == "{L[i:0:3,j:0:4] {L[k:0:12] A[k]}[4*i+j]}"


def test_a_skew_covers_its_image() -> None:
    scope = read("{L[h:0:6,r:0:3] A[h+r-1]*K[r]}", A=(6,), K=(3,))
    forward = (both(x(0), x(1), -1), x(1))
    backward = (both(x(0), x(1)), x(1))
    proved(scope, ReindexLoops(forward, backward, (Range(0, 8), Range(0, 3))))
    proved(scope, ReindexLoops(forward, backward, (Range(1, 7), Range(0, 3))))
    assert "not shown" in refusal(
        scope, ReindexLoops(forward, backward, (Range(2, 8), Range(0, 3)))
    )


@pytest.mark.parametrize("ranges", [(-1, 3), (0, 4), (-2, 7)])
def test_a_sum_grows_where_a_factor_reads_outside(ranges: tuple[int, int]) -> None:
    proved(CONV, same_sums(CONV, ranges))


@pytest.mark.parametrize("ranges", [(1, 3), (0, 2), (0, 0)])
def test_a_sum_does_not_lose_what_counts(ranges: tuple[int, int]) -> None:
    refusal(CONV, same_sums(CONV, ranges))


def test_a_sum_grows_over_the_edge_of_one_loop_only() -> None:
    scope = read("{L[i:0:4] S[j:0:4] A[i]*B[i+j]}", A=(4,), B=(7,))
    assert "not shown to be 0" in refusal(scope, same_sums(scope, (0, 5)))
    at_the_edge = read("{L[i:3:6] S[j:0:4] A[i]*B[i+j]}", A=(4,), B=(7,))
    proved(at_the_edge, same_sums(at_the_edge, (0, 5)))


@pytest.mark.parametrize("reducer", ["max", "min", "prod"])
def test_only_a_sum_may_gain_or_lose_points(reducer: str) -> None:
    scope = read(f"{{L[h:0:6] {reducer}[r:0:3] A[h+r-1]*K[r]}}", A=(6,), K=(3,))
    assert f"not {reducer}" in refusal(scope, same_sums(scope, (0, 4)))
    wide = read(f"{{L[h:0:6] {reducer}[r:0:5] A[h+r-1]*K[r]}}", A=(6,), K=(3,))
    assert f"not {reducer}" in refusal(wide, same_sums(wide, (0, 3)))
    padded = read(f"{{L[h:0:9] {reducer}[r:0:3] A[h]*K[r]}}", A=(6,), K=(3,))
    assert f"not {reducer}" in refusal(padded, same_loops(padded, (0, 6)))


@pytest.mark.parametrize("reducer", ["sum", "max", "min", "prod"])
def test_every_reducer_may_be_renumbered(reducer: str) -> None:
    name = "S" if reducer == "sum" else reducer
    scope = read(f"{{L[h:0:6] {name}[r:0:6] A[h+r-1]*K[r]}}", A=(6,), K=(6,))
    proved(scope, ReindexSums((x(1, -1, 5),), (x(1, -1, 5),), (Range(0, 6),)))
    forward, back = (both(x(2), x(1, 2)),), (affine.floordiv(x(1), 2), affine.modulo(x(1), 2))
    proved(scope, ReindexSums(forward, back, (Range(0, 3), Range(0, 2))))


def test_another_fill_than_0_stops_growth_and_shrinking() -> None:
    scope = read("{L[i:0:6] S[r:0:3] A{fill=1}[i+r]}", A=(3,))
    assert "not shown to be 0" in refusal(scope, same_sums(scope, (0, 4)))
    assert "not shown to be 0" in refusal(scope, same_loops(scope, (0, 3)))
    other = read("{L[i:0:6] S[r:0:3] A{fill=1}[i+r]*K[r]}", A=(3,), K=(3,))
    proved(other, same_sums(other, (-1, 4)))


@pytest.mark.parametrize("term", ["exp(A[i])", "A[i] + 1", "A[i] + B[i+1]", "A[i]^-1"])
def test_what_does_not_keep_zero_stops_shrinking(term: str) -> None:
    scope = read(f"{{L[i:0:6] {term}}}", A=(4,), **({"B": (4,)} if "B" in term else {}))
    assert "not shown to be 0" in refusal(scope, same_loops(scope, (0, 4)))


@pytest.mark.parametrize("term", ["tanh(A[i])", "A[i]^3", "A[i] - exp(B[i])*A[i]", "relu(2*A[i])"])
def test_what_keeps_zero_lets_it_shrink(term: str) -> None:
    scope = read(f"{{L[i:0:6] {term}}}", A=(4,), **({"B": (4,)} if "B" in term else {}))
    proved(scope, same_loops(scope, (0, 4)))


def test_a_part_block_is_relaxed_only_where_it_is_zero() -> None:
    forward, back = (both(x(2), x(1, 2)),), (affine.floordiv(x(1), 2), affine.modulo(x(1), 2))
    split = ReindexSums(forward, back, (Range(0, 2), Range(0, 2)))
    proved(CONV, split)
    free = read("{L[h:0:6] S[r:0:3] A[h+r-1]}", A=(6,))
    assert "would gain points" in refusal(free, split)


def test_a_sum_may_be_skewed_by_a_loop() -> None:
    scope = read("{L[v:0:6] S[w:0:3] P[v,w]*V[v+w]}", P=(6, 3), V=(8,))
    skew = ReindexSums((both(x(1), x(0), -1),), (both(x(1), x(0)),), (Range(0, 8),))
    assert proved(scope, skew) == "{L[i:0:6] S[j:0:8] P[i,j-i]*V[j]}"
    free = read("{L[v:0:6] S[w:0:3] V[v+w]}", V=(8,))
    assert "would gain points" in refusal(free, skew)


@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        ((x(1, 2),), (x(1),)),
        ((x(1),), (x(1, 1, 1),)),
        ((x(1),), (x(1, -1),)),
        ((affine.floordiv(x(1), 2),), (x(1, 2),)),  # onto half of the old points twice
        ((x(1, 2),), (affine.floordiv(x(1), 2),)),  # misses the odd ones
    ],
)
def test_maps_of_a_sum_must_be_inverse(forward: tuple[Row], backward: tuple[Row]) -> None:
    scope = read("{L[i:0:2] S[r:0:4] A[r]}", A=(4,))
    assert "not inverse" in refusal(scope, ReindexSums(forward, backward, (Range(0, 4),)))


ILL_FORMED = {
    "two terms of one iterator": Row(0, ((0, 2), (0, -1))),
    "a coefficient of zero": Row(0, ((0, 1), (1, 0))),
    "unsorted terms": Row(0, ((1, 1), (0, 1))),
    "a divisor of zero": Row(0, ((0, 1),), ((Row(0, ((0, 1),)), 0, 1),)),
    "a negative divisor": Row(0, ((0, 1),), ((Row(0, ((0, 1),)), -2, 1),)),
    "a divisor of zero within": Row(
        0, (), ((Row(0, ((0, 1),), ((Row(0, ((0, 1),)), 0, 1),)), 2, 1),)
    ),
    "a floor that divides": Row(0, (), ((Row(0, ((0, 2),)), 2, 1),)),
    "a floor of zero times": Row(0, ((0, 1),), ((Row(0, ((0, 1),)), 3, 0),)),
}


@pytest.mark.parametrize("row", ILL_FORMED.values(), ids=ILL_FORMED)
def test_ill_formed_rows_are_refused(row: Row) -> None:
    scope = read("{L[i:0:4,j:0:4] A[2*i,j]}", A=(8, 4))
    ranges = (Range(-9, 9), Range(-9, 9))
    for witness in (
        ReindexLoops((row, x(1)), (x(0), x(1)), ranges),
        ReindexLoops((x(0), x(1)), (row, x(1)), ranges),
    ):
        assert "canonical form" in refusal(scope, witness)
    sums = read("{S[i:0:4,j:0:4] A[2*i,j]}", A=(8, 4))
    assert "canonical form" in refusal(sums, ReindexSums((row, x(1)), (x(0), x(1)), ranges))
    assert "canonical form" in refusal(sums, ReindexSums((x(0), x(1)), (row, x(1)), ranges))


def test_counts_and_positions_must_fit() -> None:
    bound = (Range(0, 4),)
    assert "number of rows" in refusal(PLAIN, ReindexLoops((), (x(0),), bound))
    assert "number of rows" in refusal(PLAIN, ReindexLoops((x(0),), (), bound))
    assert "not there" in refusal(PLAIN, ReindexLoops((x(1),), (x(0),), bound))
    assert "not there" in refusal(PLAIN, ReindexLoops((x(0),), (x(-1),), bound))
    assert "empty range" in refusal(PLAIN, ReindexLoops((x(0),), (x(0),), (Range(3, 3),)))
    assert "empty range" in refusal(PLAIN, ReindexLoops((x(0),), (x(0),), (Range(3, 1),)))


def test_what_has_no_value_is_refused() -> None:
    """Where the condition holds, both reads miss: inf - inf."""
    body = "where(i < 3, A{fill=inf}[i-3] - B{fill=inf}[i-3], 0)"
    scope = read(f"{{S[i:0:6] {body}}}", A=(3,), B=(3,))
    assert "infinities" in refusal(scope, same_sums(scope, (0, 3)))


def test_an_empty_scope_is_refused() -> None:
    scope = read("{L[i:0:0] A[i]}", A=(4,))
    assert "empty range" in refusal(scope, same_loops(scope, (0, 1)))


EXACT_ONLY = {
    "one read misses for some loops, another for the others": (
        read("{L[i:0:4] S[r:0:3] A[i+r-2]*B[r-i+1]}", A=(3,), B=(3,)),
        (0, 4),
    ),
    "a floor leaves": (read("{L[i:0:4] S[r:0:4] A[r//2]*B[i]}", A=(2,), B=(4,)), (0, 6)),
}


@pytest.mark.parametrize(("scope", "ranges"), EXACT_ONLY.values(), ids=EXACT_ONLY)
def test_exact_reasoning_accepts_what_intervals_leave_open(
    scope: Scope, ranges: tuple[int, int]
) -> None:
    witness = same_sums(scope, ranges)
    assert "not shown to be 0" in refusal(scope, witness, exact=False)
    proved(scope, witness)
