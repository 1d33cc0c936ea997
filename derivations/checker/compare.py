"""Two closed scopes compared as tensors, from their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import islpy as isl

from einderive.derivations.checker import sets
from einderive.derivations.checker.families import Families
from einderive.derivations.checker.formal import NotShown, Sum, Term
from einderive.derivations.checker.sets import Tags
from einderive.derivations.checker.translate import Translation
from einderive.derivations.checker.unfolding import same_by_definition
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope, Select, Tensor
from einderive.ta.ir.subst import nested_scopes, stages, walk

UNWRITTEN = "not shown: some expression on the way adds inf and -inf"
DIFFERENT = "the two sides are different sums of products"
OTHERWISE = "not shown: the two sides apply functions or reductions to different sums of products"
MOST_CUTS = 3
"""The loops are cut in two at most this many times within each other."""


def not_equal(
    left: Scope, right: Scope, forward: Sequence[Row] | None = None, *, exp_sum: bool = True
) -> str | None:
    """The reason why the two scopes are not shown to be equal tensors.  None if they are shown
    equal.

    If the sides as wholes do not show it, the loops are cut where a condition of either side
    changes, and the parts are compared: tensors that are equal on all parts are equal.

    `forward` may give the reduction iterators of `left` as rows of its loops and the reduction
    iterators of `right`.  It is a hint: it influences which equalities can be shown, and cannot
    make a false one pass.  `exp_sum` says whether exp(a + b) = exp(a)*exp(b) is among the axioms.
    """
    reason = _not_equal_whole(left, right, forward, exp_sum)
    return None if reason is None or _equal_in_parts(left, right, exp_sum, MOST_CUTS) else reason


def _not_equal_whole(
    left: Scope, right: Scope, forward: Sequence[Row] | None, exp_sum: bool
) -> str | None:
    if left is right:
        return None
    if left.loops != right.loops:
        return "the two sides have different loops"
    if any(side.extent == 0 for side in left.loops):
        return None
    reason = "nothing was compared"
    try:
        if same_by_definition(left, right):
            return None
    except ValueError:  # an expression that adds inf and -inf cannot be written
        reason = UNWRITTEN
    for kept in dict.fromkeys(_taken_as_they_are(left, right)):
        sets.begin()
        try:
            translation = Translation(Families(left.loops), kept, exp_sum)
            reason = _disagreement(left, right, translation, forward)
            if not reason:
                return None
        except NotShown as problem:
            reason = f"not shown: {problem}"
        except ValueError:
            reason = UNWRITTEN
        except isl.Error:
            reason = "not shown: too large for integer sets"
    return None if reduced_alike(left, right, exp_sum) else reason


def reduced_alike(left: Scope, right: Scope, exp_sum: bool) -> bool:
    """Whether the two reduce equal values over the same points."""
    if not left.sums or (left.sums, left.reducer) != (right.sums, right.reducer):
        return False
    one, other = (make_scope(side.loops + side.sums, (), side.body) for side in (left, right))
    return not_equal(one, other, exp_sum=exp_sum) is None


def _taken_as_they_are(left: Scope, right: Scope) -> tuple[frozenset[Scope], ...]:
    """Sets of scopes that both sides read and that need not be looked into: all, those that neither
    reads directly, none."""
    common = frozenset(stages(left)) & frozenset(stages(right)) - {left, right}
    direct = frozenset(nested_scopes(left)) | frozenset(nested_scopes(right))
    return common, common - direct, frozenset()


def _equal_in_parts(left: Scope, right: Scope, exp_sum: bool, cuts: int) -> bool:
    """Whether both sides of some place, where a condition on one loop alone changes, are shown to
    be equal."""
    place = next(chain(borders(left), borders(right)), None)
    if place is None or not cuts or left.loops != right.loops:
        return False
    loop, at = place
    lo, hi = left.loops[loop]
    for half in (Range(lo, at), Range(at, hi)):
        loops = (*left.loops[:loop], half, *left.loops[loop + 1 :])
        try:
            one, other = (make_scope(loops, s.sums, s.body, s.reducer) for s in (left, right))
        except ValueError:
            return False
        if _not_equal_whole(one, other, None, exp_sum) and not _equal_in_parts(
            one, other, exp_sum, cuts - 1
        ):
            return False
    return True


def borders(scope: Scope) -> Iterator[tuple[int, int]]:
    """The loops, and the places inside of their ranges, where conditions a*i + c >= 0 or
    a*i + c = 0 of the body begin or end to hold."""
    for part in walk(scope.body):
        for condition in part.conditions if isinstance(part, Select) else ():
            row = condition.row
            if len(row.terms) == 1 and not row.floors and row.terms[0][0] < len(scope.loops):
                ((loop, a),) = row.terms
                first = -(row.const // a) if a > 0 else row.const // -a + 1
                places = (first, first + 1) if condition.relation == "==" else (first,)
                inside = [at for at in places if scope.loops[loop].lo < at < scope.loops[loop].hi]
                yield from ((loop, at) for at in inside)


def _disagreement(
    left: Scope, right: Scope, translation: Translation, forward: Sequence[Row] | None
) -> str:
    """Why the formal sums do not agree; empty where they do.  Products of entries alone that occur
    unequally often are a difference, of others it is not known."""
    families = translation.families
    loops = [affine.iterator(i) for i in range(len(left.loops))]
    sides: list[tuple[Sum, list[int]]] = []
    for side in (left, right):
        translation.lenient = side is right
        first = families.fresh() + 1  # a scope's own reduction iterators are numbered first
        terms = translation.scope(side, loops)
        sides.append((terms, list(range(first, first + len(side.sums)))))
    (one, old), (other, new) = sides
    tags: list[Tags] = [_in_order]
    if forward is not None:
        tags.insert(0, _along(forward, len(loops), one, old, new))
    if families.agree(one, other, tuple(families.box), families.box, tags):
        return ""
    entries = all(isinstance(leaf.content, Tensor) for leaf in families.leaves[2:])
    return DIFFERENT if entries and not any(t.infinite for t in (*one, *other)) else OTHERWISE


def _in_order(term: Term) -> tuple[Row, ...]:
    """The bound variables, which are the same ones on both sides where they are as many."""
    return tuple(affine.iterator(variable) for variable, _ in term.bound)


def _along(
    forward: Sequence[Row], loops: int, one: Sum, old: Sequence[int], new: Sequence[int]
) -> Tags:
    """The old reduction iterators: by themselves on the left, as `forward` gives them on the
    right."""
    own = {variable for term in one for variable, _ in term.bound} | set(old)
    at = {i: affine.constant(0) for row in forward for i in affine.iterators(row)}
    at |= {i: affine.iterator(v) for i, v in enumerate((*range(loops), *new))}

    def tags(term: Term) -> tuple[Row, ...]:
        bound = {variable for variable, _ in term.bound}
        rows = [affine.iterator(v) for v in old]
        if not bound <= own:
            rows = [affine.substitute(row, at) for row in forward]
        known = bound | set(range(loops))
        return tuple(row if affine.iterators(row) <= known else affine.constant(0) for row in rows)

    return tags
