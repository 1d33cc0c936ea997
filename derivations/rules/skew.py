"""Skew.   t = h + r takes the place of h (also a*h + b*r with a unit coefficient)."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import (
    affine_rows,
    combinations,
    replace_loop,
    replace_reduction,
    solve,
)
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.facts.zeros import zero_reads
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row, row_range
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """For each compound row, its loops (or a reduction iterator and loops) as one new iterator."""
    first = len(scope.loops)
    for row in affine_rows(scope):
        for new in combinations(row, range(first)):
            bound = row_range(new, scope.loops)
            for loop, a in new.terms:
                if abs(a) == 1:
                    yield replace_loop(scope, loop, solve(new, loop), new, bound)
    for row in affine_rows(scope):
        for new in combinations(row, range(len(scope.domain))):
            summed = [i for i, a in new.terms if i >= first and abs(a) == 1]
            if len(summed) == 1 and any(i < first for i, _ in new.terms):
                bound = _summed_range(scope, new)
                (index,) = summed
                yield replace_reduction(scope, index - first, solve(new, index), new, bound)


def _summed_range(scope: Scope, new: Row) -> Range:
    """The values of the row at which no read or condition of the same row makes the body 0."""
    low, high = row_range(new, scope.domain)
    mirrored = affine.scale(new, -1)
    for row, bound in zero_reads(scope.body):
        for same, sign in ((new, 1), (mirrored, -1)):
            if row.terms == same.terms and row.floors == same.floors:  # row = sign*new + c
                const = row.const - same.const
                first, last = sorted(sign * (end - const) for end in (bound.lo, bound.hi - 1))
                low, high = max(low, first), min(high, last + 1)
    return Range(low, high) if low < high else row_range(new, scope.domain)


SKEW = Rule(
    name="skew",
    formula=(
        "{L[h:a:b] f(h)} = {L[h:a:b] {L[t:c:d] f(t-p)}[h+p]} where f(h) = where(a <= h < b "
        "and not c <= h+p < d, 0, f(h))\n"
        "sum[r](f(r)) = sum[t](f(t-p)) where r in a:b, t in c:d, f(r) = where(a <= r < b and "
        "not c <= r+p < d or c <= r+p < d and not a <= r < b, 0, f(r))"
    ),
    conditions=(
        "for loops, the new range covers all values of the new iterator; for sums, the body is 0 "
        "where the old iterator leaves its range"
    ),
    choices=(
        "compound rows of the body: all their loops, or those with equal coefficients; a "
        "reduction iterator's new range is cut to where reads and conditions of that row are not 0"
    ),
    exactness="exact",
    assumes_no_nan=(
        "where a sum's range changes and the body is not one factor: 0 times a value outside is "
        "left out or comes in"
    ),
    source="EinNet, OSDI'23, variable substitution",
    propose=propose,
    examples=(
        Example(
            "{L[h:0:6,r:0:3] S[c:0:4] A[h+r-1,c]*K[r,c]}",
            "{L[i:0:6,j:0:3] {L[k:-1:7,j:0:3] S[l:0:4] A[k,l]*K[j,l]}[i+j-1,j]}",
            sizes={"A": (6, 4)},
        ),
        Example(
            "{L[v:0:6] S[w:0:3] P[v,w]*V[v+w]}",
            "{L[i:0:6] S[j:0:8] P[i,j-i]*V[j]}",
            sizes={"V": (8,)},
        ),
    ),
    refusals=(
        Refusal(
            "{L[h:0:6,r:0:3] A[h+r]*K[r]}",
            ReindexLoops(
                (Row(0, ((0, 1), (1, -1))), Row(0, ((1, 1),))),
                (Row(0, ((0, 1), (1, 1))), Row(0, ((1, 1),))),
                (Range(0, 7), Range(0, 3)),
            ),
            "not shown to be 0",
            sizes={"A": (8,)},
        ),
        Refusal(
            "{L[h:0:6] S[r:0:3] A[h+r]}",
            ReindexSums((Row(0, ((0, -1), (1, 1))),), (Row(0, ((0, 1), (1, 1))),), (Range(0, 8),)),
            "not shown to be 0",
            sizes={"A": (8,)},
        ),
    ),
)
