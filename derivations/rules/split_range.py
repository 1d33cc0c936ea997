"""Split range.   {L[x:a:b] f(x)} is its pieces over a:c and c:b;   S[k:a:b] f is their sum."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import condition_rows
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.split_range import SplitRange
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Cuts where a condition on one iterator changes, and, under a reduction, through the middle of
    a loop that a condition relates to other iterators: each half may need a part of the sum."""
    first = len(scope.loops)
    for row in condition_rows(scope.body):
        if row.floors:
            continue
        for position, a in row.terms:
            bound = scope.domain[position]
            if len(row.terms) > 1:
                cut = (bound.lo + bound.hi) // 2
                wanted = position < first and bool(scope.sums)
            else:  # a*x + c >= 0 changes at ceil(-c/a)
                cut = -(row.const // a) if a > 0 else row.const // -a + 1
                wanted = position < first or scope.reducer == "sum"
            if wanted and bound.lo < cut < bound.hi:
                yield SplitRange(position, cut)


SPLIT_RANGE = Rule(
    name="split-range",
    formula=(
        "{L[x:a:b] f(x)} = {L[x:a:b] where(x >= c, {L[x:c:b] f(x)}[x], {L[x:a:c] f(x)}[x])}\n"
        "sum[i](f(i)) = sum[j](f(j)) + sum[k](f(k)) where i in a:b, j in a:c, k in c:b"
    ),
    conditions="a < c < b; a reduction iterator is cut under a sum only",
    choices=(
        "the places where a condition on the iterator changes; the middle of a loop in a condition"
        " that relates it to other iterators"
    ),
    exactness="reassociates",
    assumes_no_nan=(
        "where a condition that is decided on a piece leaves 0 as a factor, or where reads become "
        "equal and cancel"
    ),
    source="EinNet, OSDI'23, expression splitting",
    propose=propose,
    examples=(
        Example(
            "{L[i:0:8,e:0:3] S[j:0:8] where(j <= i, P[i,j], 0)*V[j,e]}",
            "{L[i:0:8,j:0:3] where(i >= 4, {L[i:4:8,j:0:3] S[k:0:8] V[k,j]*where(i >= k, "
            "P[i,k], 0)}[i,j], {L[i:0:4,j:0:3] S[k:0:8] V[k,j]*where(i >= k, P[i,k], "
            "0)}[i,j])}",
        ),
        Example(
            "{L[i:0:8] where(i < 3, A[i], B[i-3])}",
            "{L[i:0:8] where(i >= 3, {L[i:3:8] B[i-3]}[i], {L[i:0:3] A[i]}[i])}",
            sizes={"B": (8,)},
        ),
    ),
    refusals=(
        Refusal("{L[i:0:8] A[i]}", SplitRange(0, 8), "inside the range"),
        Refusal("{L[i:0:8] A[i]}", SplitRange(1, 4), "no such iterator"),
        Refusal("{max[i:0:8] A[i]}", SplitRange(0, 4), "only a sum"),
    ),
)
