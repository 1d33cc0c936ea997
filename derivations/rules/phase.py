"""Phase.   i = d*q + p: a stride or dilation d becomes d dense problems."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from einderive.derivations.proposing import (
    affine_rows,
    divisors,
    split_loop,
    split_loop_in_place,
    split_reduction,
)
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """For an iterator of coefficient 1 in a row, d is the common coefficient of the row's other
    iterators; for an iterator alone in a `//`, d is the divisor."""
    first = len(scope.loops)
    chosen: dict[tuple[int, int], None] = {}
    for position, n in divisors(scope):
        if n < scope.domain[position].extent:
            if position < first:
                yield split_loop_in_place(scope, position, n)
            else:
                yield split_reduction(scope, position - first, n)
    for row in affine_rows(scope):
        for position, a in row.terms:
            others = [b for i, b in row.terms if i != position]
            step = gcd(*others) if others else 0
            if abs(a) == 1 and 1 < step < scope.domain[position].extent:
                chosen[position, step] = None
    for position, step in chosen:
        if position < first:
            yield split_loop(scope, position, step)
        else:
            yield split_reduction(scope, position - first, step)


PHASE = Rule(**stated(__name__), propose=propose)
