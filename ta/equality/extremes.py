"""Nested maxima merged into one max, and nested minima into one min.

    max[r] {L[y] max[s] f(y, s)}[g(r)]  =  max[r, s] f(g(r), s)       where g(r) is inside of y
                                                                      -inf elsewhere, as the fill is

In this form, two nestings of the same operands can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Condition, Node, Scope
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import stages, substitute


def flatten_extremes(roots: Sequence[Scope]) -> tuple[Scope, ...]:
    """The programs in which each max that another max reads as a whole is merged into it, and so
    for min."""
    done: dict[Scope, Scope] = {}
    for stage in stages(*roots):
        new = redirected(stage, done)
        while (merged := _merged(new)) is not None:
            new = merged
        done[stage] = new
    return tuple(done[root] for root in roots)


def _merged(stage: Scope) -> Scope | None:
    read = stage.body
    if not REDUCERS[stage.reducer].order or not isinstance(read, Access):
        return None
    inner = read.source
    if not isinstance(inner, Scope) or inner.reducer != stage.reducer or inner.empty:
        return None
    conditions = []
    if not stage.empty:
        for row, bound in zip(read.rows, inner.loops, strict=True):
            for room in affine.room(row, bound):
                if affine.bounds(room, stage.domain)[0] < 0:
                    conditions.append(Condition(">=", room))
    nothing = REDUCERS[stage.reducer].identity
    if conditions and read.fill != nothing:
        return None
    first = len(stage.domain)
    new = [affine.iterator(first + position) for position in range(len(inner.sums))]
    body: Node = substitute(inner.body, [*read.rows, *new])
    if conditions:
        body = expr.select(conditions, body, expr.const(nothing))
    return make_scope(stage.loops, stage.sums + inner.sums, body, stage.reducer)
