"""Split iterator.   i = k*q + p for any k > 0."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, near_divisors, split_iterator
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
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
                        sums[position, factor] = None
    for position, factor in (*loops, *sums):
        yield split_iterator(scope, position, factor)


SPLIT_ITERATOR = Rule(**stated(__name__), propose=propose)
