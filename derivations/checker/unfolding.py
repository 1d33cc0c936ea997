"""Reads replaced by the definition of what they read, one stage after the other.

    {L[y in Y] f(y)}[r(x)]  =  f(r(x))       if r(x) lies in Y for all x, or if f(r(x)) is 0, the
                                             fill, elsewhere: the read misses, or a factor does

Two scopes that become one expression in this way are equal tensors, and no product is multiplied
out.  So chains of many elementwise stages are compared, whose formal sums would be too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from einderive.derivations.checker.zeros import divides, is_zero
from einderive.ta.facts.infinite import meets_infinity
from einderive.ta.ir import affine, expr, subst
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Power, Scope, Tensor
from einderive.ta.ir.sources import redirected
from einderive.ta.printing.written import Written, written

MOST = Written(10**100, 160)
"""Expressions that would become deeper than this stay as they are, since walks are recursive.
Length has no limit: sub-terms are shared."""
MOST_TERMS = 1000
"""Expressions with more distinct sub-terms stay as they are too: every reader would repeat them."""
Source: TypeAlias = Tensor | Scope


def same_by_definition(left: Scope, right: Scope) -> bool:
    """Whether one side becomes the other, or both become the same expression."""
    if _becomes(left, right) or _becomes(right, left):
        return True
    return _unfolded(left)[left] is _unfolded(right)[right]


def _becomes(left: Scope, right: Scope) -> bool:
    """Is `right` one of the stages of `left` after unfolding?  Its producers are found first, and
    each that is equal to a stage of `left` is read as that stage from then on."""
    own = dict.fromkeys(subst.stages(left))
    equal: dict[Scope, Scope] = {}
    other: dict[Scope, Scope] = {}
    for stage in subst.stages(right):
        sources = {read: equal.get(read, read) for read in subst.nested_scopes(stage)}
        merged = len({*sources.values()}) < len(sources)  # what becomes one might cancel
        goal = stage if merged else redirected(stage, sources)
        if goal in own:
            equal[stage] = goal
        elif own.keys() >= {*subst.nested_scopes(goal)}:
            found = _origin(goal, own, other)
            if found is not None:
                equal[stage], other[found] = found, goal
    return equal.get(right) is left


def _origin(goal: Scope, own: Iterable[Scope], other: Mapping[Scope, Scope]) -> Scope | None:
    """The first stage that becomes `goal` when what goal reads is kept, at any place or only where
    goal reads it, and the rest is written out, as `other` has it where it has the stage."""
    places = {*subst.accesses(goal.body)}
    kept = {place.source for place in places}
    length, depth = written(goal.body)
    longest = Written(length, min(depth, MOST.depth))
    known: dict[Source, Scope] = {}
    for stage in own:
        if all(read.source in kept or read.source in known for read in subst.accesses(stage.body)):
            there = _written_out(stage, known, longest, places.__contains__)
            whole = _written_out(stage, known, longest, lambda read: read.source in kept)
            if goal in (there, whole):
                return stage
            known[stage] = other.get(stage, whole)
    return None


def _unfolded(scope: Scope) -> dict[Source, Scope]:
    """An equal tensor for every stage, in which all reads that may be written out are."""
    known: dict[Source, Scope] = {}
    for stage in subst.stages(scope):
        known[stage] = _written_out(stage, known, MOST, lambda read: False)
    return known


def _written_out(
    stage: Scope, known: Mapping[Source, Scope], longest: Written, stays: Callable[[Access], bool]
) -> Scope:
    """An equal tensor, which reads the `known` equals of what the stage reads; in their place the
    bodies of those that have no reduction, as far as these are not longer than `longest`.

    What meets an infinity stays as it is where two parts would become one: they might be cancelled,
    and inf - inf has no value; and where a read misses."""

    infinite = meets_infinity(stage)
    inside = _within if infinite else _inside

    def body_of(access: Access) -> Node:
        source = known.get(access.source)
        if source is None or stays(access):
            return access
        long = len(subst.walk(source.body)) > MOST_TERMS or not written(source.body).fits(longest)
        if source.sums or long or not inside(access, source, stage):
            return expr.access(source, access.rows, access.fill)
        return subst.substitute(source.body, access.rows)

    try:
        body = subst.rebuild(stage.body, body_of)
        if infinite and not _keeps_all(stage.body, body_of, body):
            return stage
        return make_scope(stage.loops, stage.sums, body, stage.reducer)
    except ValueError:  # some number would be too long
        return stage


def _keeps_all(before: Node, body_of: Callable[[Access], Node], after: Node) -> bool:
    """Whether every read of the expression that was written out is still there.  Constructors
    multiply nothing out."""
    written_out = _reads(before, lambda read: _reads(body_of(read), lambda _: 1))
    return written_out == _reads(after, lambda _: 1)


def _reads(node: Node, count: Callable[[Access], int]) -> int:
    """The number of reads in the expression.  Those of a power count as often as they are
    multiplied."""

    def reads(node: Node, parts: tuple[int, ...]) -> int:
        found = count(node) if isinstance(node, Access) else sum(parts)
        return found * (abs(node.exponent) if isinstance(node, Power) else 1)

    return subst.fold(node, reads)


def _within(access: Access, source: Scope, reader: Scope) -> bool:
    """Whether every row is inside of the source's loops, for all of the reader's iterators."""
    found = (affine.bounds(row, reader.domain) for row in access.rows)
    return all(
        s.lo <= low and high < s.hi for s, (low, high) in zip(source.loops, found, strict=True)
    )


def _inside(access: Access, source: Scope, reader: Scope) -> bool:
    """Whether every row is inside of the source's loops, for all of the reader's iterators, or else
    the source's body is 0, as the read is."""
    for i, (row, side) in enumerate(zip(access.rows, source.loops, strict=True)):
        low, high = affine.bounds(row, reader.domain)
        missed = [] if side.lo <= low else [Range(low, side.lo)]
        missed += [] if high < side.hi else [Range(side.hi, high + 1)]
        if missed and (access.fill != 0 or divides(source)):
            return False
        if not all(is_zero(source.body, i, beyond) for beyond in missed):
            return False
    return True
