"""Reads replaced by what they are by definition, one stage after the other.

    {L[y in Y] f(y)}[r(x)]  =  f(r(x))       where r(x) lies in Y for all x

Two scopes that become one expression by this are equal tensors, whatever the expression is: no
product is multiplied out.  So chains of many elementwise stages are compared, of which formal sums
would be too large.
"""

from __future__ import annotations

from ta import affine, expr
from ta.canon import scope as make_scope
from ta.node import Access, Node, Scope
from ta.subst import rebuild, stages, substitute
from ta.written import written

MOST_DEPTH = 80
"""Bodies of more operations within each other than this stay where they are."""


def same_by_definition(left: Scope, right: Scope) -> bool:
    """Does one side become the other, or do both become the same?"""
    everything: frozenset[Scope] = frozenset()
    return (
        _unfolded(left, frozenset(stages(right))) is right
        or _unfolded(right, frozenset(stages(left))) is left
        or _unfolded(left, everything) is _unfolded(right, everything)
    )


def _unfolded(scope: Scope, kept: frozenset[Scope]) -> Scope:
    """An equal tensor: every stage reads in their place the bodies of those that it reads, where
    these have no reduction; what becomes one of the scopes in `kept` stays a scope that is read."""
    known: dict[Scope, Scope] = {}
    for stage in stages(scope):
        known[stage] = _with_bodies(stage, known, kept)
    return known[scope]


def _with_bodies(stage: Scope, known: dict[Scope, Scope], kept: frozenset[Scope]) -> Scope:
    def body_of(access: Access) -> Node:
        if not isinstance(access.source, Scope):
            return access
        source = known[access.source]
        deep = written(source.body).depth > MOST_DEPTH
        if source.sums or source in kept or deep or not _stays(access, stage):
            return expr.access(source, access.rows, access.fill)
        return substitute(source.body, access.rows)

    body = rebuild(stage.body, body_of)
    return make_scope(stage.loops, stage.sums, body, stage.reducer)


def _stays(access: Access, reader: Scope) -> bool:
    """Is every row inside of the source's loops, for all of the reader's iterators?"""
    bounds = (affine.bounds(row, reader.domain) for row in access.rows)
    return all(
        side.lo <= low and high < side.hi
        for (low, high), side in zip(bounds, access.source.ranges, strict=True)
    )
