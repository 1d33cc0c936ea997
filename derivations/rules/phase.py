"""Phase.   i = d*q + p: a stride or dilation d becomes d dense problems."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from einderive.derivations.proposing import affine_rows, divisors, split_in_place, split_iterator
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """For an iterator of coefficient 1 in a row, d is the common coefficient of the row's other
    iterators; for an iterator alone in a `//`, d is the divisor."""
    chosen: dict[tuple[int, int], None] = {}
    for position, n in divisors(scope):
        if n < scope.domain[position].extent:
            split = split_in_place if position < len(scope.loops) else split_iterator
            yield split(scope, position, n)
    for row in affine_rows(scope):
        for position, a in row.terms:
            others = [b for i, b in row.terms if i != position]
            step = gcd(*others) if others else 0
            if abs(a) == 1 and 1 < step < scope.domain[position].extent:
                chosen[position, step] = None
    for position, step in chosen:
        yield split_iterator(scope, position, step)


PHASE = Rule(**stated(__name__), propose=propose)
