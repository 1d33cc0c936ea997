"""Reads replaced by what they are by definition, one stage after the other.

    {L[y in Y] f(y)}[r(x)]  =  f(r(x))       where r(x) lies in Y for all x, or else f(r(x)) is the
                                             fill, 0: a read that misses, or a product with one

Two scopes that become one expression by this are equal tensors, whatever the expression is: no
product is multiplied out.  So chains of many elementwise stages are compared, of which formal sums
would be too large.
"""

from __future__ import annotations

from derivations.checker.zeros import divides, is_zero
from ta import affine, expr
from ta.affine import Range
from ta.canon import scope as make_scope
from ta.infinite import may_be_infinite
from ta.node import Access, Node, Scope
from ta.subst import nested_scopes, rebuild, redirected, stages, substitute
from ta.written import Written, written

MOST = Written(10**100, 160)
"""What becomes deeper than this stays where it is, since expressions are walked by recursion.
Length is no matter: sub-terms are shared."""


def same_by_definition(left: Scope, right: Scope) -> bool:
    """Does one side become the other, or do both become the same?"""
    if _becomes(left, right) or _becomes(right, left):
        return True
    return _unfolded(left, MOST)[left] is _unfolded(right, MOST)[right]


def _becomes(left: Scope, right: Scope) -> bool:
    """Is `right` one of the stages of `left` after unfolding?  Its producers are found first, and
    each that is equal to a stage of `left` is read as that stage from then on."""
    own = dict.fromkeys(stages(left))
    equal: dict[Scope, Scope] = {}
    for stage in stages(right):
        sources = {nested: equal.get(nested, nested) for nested in nested_scopes(stage)}
        goal = redirected(stage, sources)
        kept = frozenset(nested_scopes(goal))
        if goal in own:
            equal[stage] = goal
        elif kept <= own.keys():
            length, depth = written(goal.body)
            unfolded = _unfolded(left, Written(length, min(depth, MOST.depth)), kept)
            found = next((one for one in own if unfolded[one] is goal), stage)
            equal[stage] = found
    return equal.get(right) is left


def _unfolded(
    scope: Scope, longest: Written, kept: frozenset[Scope] = frozenset()
) -> dict[Scope, Scope]:
    """For every stage an equal tensor, which reads in their place the bodies of those stages that
    have no reduction and are not in `kept`, as far as these do not become longer than `longest`.

    Neither does what may be infinite: beside its opposite it would be cancelled, and inf - inf has
    no value."""
    known: dict[Scope, Scope] = {}
    for stage in stages(scope):

        def body_of(access: Access, reader: Scope = stage) -> Node:
            if not isinstance(access.source, Scope) or access.source in kept:
                return access
            source = known[access.source]
            stays = source.sums or not written(source.body).fits(longest)
            if stays or may_be_infinite(source) or not _inside(access, source, reader):
                return expr.access(source, access.rows, access.fill)
            return substitute(source.body, access.rows)

        body = rebuild(stage.body, body_of)
        known[stage] = make_scope(stage.loops, stage.sums, body, stage.reducer)
    return known


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
