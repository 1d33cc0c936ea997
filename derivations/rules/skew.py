"""Skew.   t = h + r takes the place of h (also a*h + b*r with a unit coefficient)."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, combinations, replace_iterator, solve
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
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
                    yield replace_iterator(scope, loop, solve(new, loop), new, bound)
    for row in affine_rows(scope):
        for new in combinations(row, range(len(scope.domain))):
            summed = [i for i, a in new.terms if i >= first and abs(a) == 1]
            if len(summed) == 1 and any(i < first for i, _ in new.terms):
                bound = _summed_range(scope, new)
                (index,) = summed
                yield replace_iterator(scope, index, solve(new, index), new, bound)


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


SKEW = Rule(**stated(__name__), propose=propose)
