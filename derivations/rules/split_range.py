"""Split range.   {L[x:a:b] f(x)} is its pieces over a:c and c:b;   S[k:a:b] f is their sum."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import condition_rows
from einderive.derivations.rule import Rule, stated
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


SPLIT_RANGE = Rule(**stated(__name__), propose=propose)
