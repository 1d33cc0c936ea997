"""Reads replaced by what they are by definition, one stage after the other.

    {L[y in Y] f(y)}[r(x)]  =  f(r(x))       where r(x) lies in Y for all x, or else f(r(x)) is the
                                             fill, 0: a read that misses, or a product with one

Two scopes that become one expression by this are equal tensors, whatever the expression is: no
product is multiplied out.  So chains of many elementwise stages are compared, of which formal sums
would be too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from derivations.checker.zeros import divides, is_zero
from ta import affine, expr
from ta.affine import Range
from ta.canon import scope as make_scope
from ta.infinite import meets_infinity
from ta.node import Access, Node, Scope, Tensor
from ta.subst import accesses, nested_scopes, rebuild, redirected, stages, substitute, terms
from ta.written import Written, written

MOST = Written(10**100, 160)
"""What becomes deeper than this stays where it is, since expressions are walked by recursion.
Length is no matter: sub-terms are shared."""
MOST_TERMS = 1000
"""What has more distinct sub-terms stays as well: every reader would write them down again."""
Source: TypeAlias = Tensor | Scope


def same_by_definition(left: Scope, right: Scope) -> bool:
    """Does one side become the other, or do both become the same?"""
    if _becomes(left, right) or _becomes(right, left):
        return True
    return _unfolded(left)[left] is _unfolded(right)[right]


def _becomes(left: Scope, right: Scope) -> bool:
    """Is `right` one of the stages of `left` after unfolding?  Its producers are found first, and
    each that is equal to a stage of `left` is read as that stage from then on."""
    own = dict.fromkeys(stages(left))
    equal: dict[Scope, Scope] = {}
    other: dict[Scope, Scope] = {}
    for stage in stages(right):
        sources = {read: equal.get(read, read) for read in nested_scopes(stage)}
        merged = len({*sources.values()}) < len(sources)  # what becomes one might cancel
        goal = stage if merged else redirected(stage, sources)
        if goal in own:
            equal[stage] = goal
        elif own.keys() >= {*nested_scopes(goal)}:
            found = _origin(goal, own, other)
            if found is not None:
                equal[stage], other[found] = found, goal
    return equal.get(right) is left


def _origin(goal: Scope, own: Iterable[Scope], other: Mapping[Scope, Scope]) -> Scope | None:
    """The first stage that becomes `goal` when what goal reads is kept, at any place or only where
    goal reads it, and the rest is written out, as `other` has it where it has the stage."""
    places = {*accesses(goal.body)}
    kept = {place.source for place in places}
    length, depth = written(goal.body)
    longest = Written(length, min(depth, MOST.depth))
    known: dict[Source, Scope] = {}
    for stage in own:
        if all(read.source in kept or read.source in known for read in accesses(stage.body)):
            there = _written_out(stage, known, longest, places.__contains__)
            whole = _written_out(stage, known, longest, lambda read: read.source in kept)
            if goal in (there, whole):
                return stage
            known[stage] = other.get(stage, whole)
    return None


def _unfolded(scope: Scope) -> dict[Source, Scope]:
    """For every stage an equal tensor, with all written out that may be."""
    known: dict[Source, Scope] = {}
    for stage in stages(scope):
        known[stage] = _written_out(stage, known, MOST, lambda read: False)
    return known


def _written_out(
    stage: Scope, known: Mapping[Source, Scope], longest: Written, stays: Callable[[Access], bool]
) -> Scope:
    """An equal tensor, which reads the `known` equals of what the stage reads; in their place the
    bodies of those that have no reduction, as far as these are not longer than `longest`.

    What meets an infinity stays as it is: two parts that become one would be cancelled, and
    inf - inf has no value."""
    if meets_infinity(stage):
        return stage

    def body_of(access: Access) -> Node:
        source = known.get(access.source)
        if source is None or stays(access):
            return access
        long = len(terms(source.body)) > MOST_TERMS or not written(source.body).fits(longest)
        if source.sums or long or not _inside(access, source, stage):
            return expr.access(source, access.rows, access.fill)
        return substitute(source.body, access.rows)

    try:
        body = rebuild(stage.body, body_of)
        return make_scope(stage.loops, stage.sums, body, stage.reducer)
    except ValueError:  # some number would be too long
        return stage


def _inside(access: Access, source: Scope, reader: Scope) -> bool:
    """Is every row inside of the source's loops, for all of the reader's iterators, or the source's
    body 0 where it is not, as the read is?"""
    for i, (row, side) in enumerate(zip(access.rows, source.loops, strict=True)):
        low, high = affine.bounds(row, reader.domain)
        missed = [] if side.lo <= low else [Range(low, side.lo)]
        missed += [] if high < side.hi else [Range(side.hi, high + 1)]
        if missed and (access.fill != 0 or divides(source)):
            return False
        if not all(is_zero(source.body, i, beyond) for beyond in missed):
            return False
    return True
