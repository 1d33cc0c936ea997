"""Split iterator.   i = k*q + p for any k > 0."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, near_divisors, split_loop, split_reduction
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Loops into blocks as long as the window they slide over; reduction iterators of a window by
    the numbers up to about its square root, so that each part is a smaller window."""
    first, domain = len(scope.loops), scope.domain
    loops: dict[tuple[int, int], None] = {}
    sums: dict[tuple[int, int], None] = {}
    for row in affine_rows(scope):
        for position, a in row.terms:
            windows = [domain[i].extent for i, b in row.terms if i != position and abs(b) == abs(a)]
            if not windows:
                continue
            extent, window = domain[position].extent, max(windows)
            if position < first:
                for factor in near_divisors(extent, [max(1, window // 2), max(1, window)], 3):
                    loops[position, factor] = None
            elif extent <= min(windows):
                for factor in range(2, extent):
                    if factor * factor <= 2 * extent:
                        sums[position - first, factor] = None
    for position, factor in loops:
        yield split_loop(scope, position, factor)
    for index, factor in sums:
        yield split_reduction(scope, index, factor)


SPLIT_ITERATOR = Rule(
    name="split-iterator",
    formula=(
        "sum[i](f(i)) = sum[q,p](f(a+k*q+p)) where i in a:b, q in 0:(b-a+k-1)//k, p in 0:k, "
        "0 < k, f(i) = where(b <= i < b+k-1, 0, f(i))\n"
        "{L[i:a:b] f(i)} = {L[i:a:b] {L[q:0:(b-a+k-1)//k,p:0:k] "
        "f(a+k*q+p)}[(i-a)//k,(i-a)%k]} where 0 < k"
    ),
    conditions=(
        "any k > 0; if k does not divide the extent, the last block is completed by points that "
        "nothing reads, or where the body is 0"
    ),
    choices=(
        "for loops, divisors near the window that the loop slides over; for windows, parts up to "
        "about the square root of their extent"
    ),
    exactness="reassociates",
    assumes_no_nan=(
        "where the last block is completed and the body is not one factor: 0 times a value outside"
        " comes in"
    ),
    source="EinNet, OSDI'23, variable substitution",
    propose=propose,
    examples=(
        Example(
            "{L[q:0:16,w:0:5] S[k:0:4] A[q,k]*B[q+w-2,k]}",
            "{L[i:0:16,j:0:5] {L[k:0:4,l:0:4,j:0:5] S[m:0:4] "
            "A[4*k+l,m]*B[4*k+l+j-2,m]}[i//4,i%4,j]}",
            sizes={"B": (16, 4)},
        ),
        Example(
            "{L[h:0:8] S[r:0:5] A[h+r-2]*K[r]}",
            "{L[i:0:8] S[j:0:2,k:0:3] A[i+j+2*k-2]*K[j+2*k]}",
            sizes={"A": (8,)},
        ),
    ),
    refusals=(
        Refusal(
            "{L[i:0:8] A[i]}",
            ReindexLoops(
                (Row(0, ((0, 3), (1, 1))),),
                (
                    Row(0, (), ((Row(0, ((0, 1),)), 3, 1),)),
                    Row(0, ((0, 1),), ((Row(0, ((0, 1),)), 3, -2),)),
                ),
                (Range(0, 3), Range(0, 9)),
            ),
            "is not the old one",
        ),
    ),
)
