"""Two closed scopes compared as tensors, from their definitions."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from derivations.checker import sets
from derivations.checker.families import Families
from derivations.checker.formal import NotShown, Sum, Term
from derivations.checker.sets import Tags
from derivations.checker.translate import Translation
from derivations.checker.unfolding import same_by_definition
from ta import affine
from ta.affine import Row
from ta.canon import scope as make_scope
from ta.node import Scope
from ta.subst import nested_scopes, stages

UNWRITTEN = "not shown: some expression on the way adds inf and -inf"


def not_equal(
    left: Scope, right: Scope, forward: Sequence[Row] | None = None, *, exp_sum: bool = True
) -> str | None:
    """Why it is not shown that the two scopes are equal tensors; None where they are.

    `forward` may give the reduction iterators of `left` as rows of its loops and the reduction
    iterators of `right`.  It is a hint: it decides what can be shown, not what is true.  `exp_sum`
    says whether exp(a + b) = exp(a)*exp(b) is among the axioms."""
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
            if _agree(left, right, Translation(Families(left.loops), kept, exp_sum), forward):
                return None
            reason = "the two sides are different sums of products"
        except NotShown as problem:
            reason = f"not shown: {problem}"
        except ValueError:
            reason = UNWRITTEN
        except isl.Error:
            reason = "not shown: too large for integer sets"
    return None if reduced_alike(left, right, exp_sum) else reason


def reduced_alike(left: Scope, right: Scope, exp_sum: bool) -> bool:
    """Do the two reduce equal values over the same points?"""
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


def _agree(
    left: Scope, right: Scope, translation: Translation, forward: Sequence[Row] | None
) -> bool:
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
    return families.agree(one, other, tuple(families.box), families.box, tags)


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
