"""A common factor taken out of a sum of terms, or out of a choice by conditions.

    a*b + a*c                             =  a*(b + c)
    where(c, a*b, a*d)                    =  a*where(c, b, d)
    where(c, a*b, 0)                      =  a*where(c, b, 0)
    where(c, a*b, where(e, a*d, 0))       =  a*where(c, b, where(e, d, 0))

Source: the ring axioms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

from einderive.derivations.effects.nonfinite import surely_finite
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.ir import affine, expr, subst
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Node, Power, Scope, Select, Source
from einderive.ta.ir.positions import is_input

NOTHING = expr.const(0)


@dataclass(frozen=True, slots=True)
class Factor(Witness):
    """Takes out a common factor.

    - `factor`: its position among the first term's factors.
    """

    factor: int
    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The body as a product.  All terms of the body, or all branches, have to have the factor,
        and no infinite number of the text may make it infinite.

        If values decide a choice, no such number may make any branch infinite.  Beside a branch of
        0, they have to be of other inputs than the factor, since they may ask where it is infinite.
        """
        terms = terms_to_factor(scope.body)
        first = subst.factors_of(terms[0])
        if not 0 <= self.factor < len(first):
            raise RuleRefused("the first term has no such factor")
        common = first[self.factor]
        if not common.free or any(common not in subst.factors_of(t) for t in terms):
            raise RuleRefused("not every term has this factor")
        chooses = deciding(scope.body)
        if any(map(may_be_infinite, terms if chooses else [common])):
            raise RuleRefused("the factor may be infinite")
        if NOTHING in chosen(scope.body):
            if not stays_finite(common):
                raise RuleRefused("the choice may hide where the factor is infinite")
            if not inputs_of(common).isdisjoint(inputs_of(*chooses)):
                raise RuleRefused("the choice may ask whether the factor is infinite")
        rest = {
            term: expr.mul(*(f for f in subst.factors_of(term) if f is not common))
            for term in terms
        }
        if isinstance(scope.body, Add):
            inner = expr.add(*(rest[term] for term in terms))
        else:
            inner = with_branches(scope.body, rest)
        return make_scope(scope.loops, scope.sums, expr.mul(common, inner), scope.reducer)

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        terms = terms_to_factor(scope.body)
        common = subst.factors_of(terms[0])[self.factor]
        return (("a", names.term(common, scope)), ("terms with it", f"all {len(terms)}"))

    def told(self, scope: Scope, names: Names) -> str:
        common = subst.factors_of(terms_to_factor(scope.body)[0])[self.factor]
        return f"{names.term(common, scope)} is taken out of all terms"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return surely_finite(subst.factors_of(terms_to_factor(before.body)[0])[self.factor])


def stays_finite(node: Node) -> bool:
    """Whether the value is finite for all finite inputs, apart from overflow of sums and products:
    no quotient takes part, and no function.  Where a choice takes 0, a factor that is infinite
    would make NaN of it: `where(i > 0, a/b[i], 0)` often stands there to leave out b[0] = 0."""
    bodies = [stage.body for part in subst.walk(node) for stage in _read(part)]
    return not any(
        isinstance(part, Apply) or (isinstance(part, Power) and part.exponent < 0)
        for body in (node, *bodies)
        for part in subst.walk(body)
    )


def _read(node: Node) -> tuple[Scope, ...]:
    """The scopes that a read needs."""
    if isinstance(node, Access) and isinstance(node.source, Scope):
        return tuple(subst.stages(node.source))
    return ()


def with_branches(node: Node, made: dict[Node, Node]) -> Node:
    """The choice with what `made` has for each branch in its place."""
    if not subst.branches(node):
        return made.get(node, NOTHING)
    if node not in made:
        then, otherwise = (with_branches(branch, made) for branch in subst.branches(node))
        if isinstance(node, Select):
            made[node] = expr.select(node.conditions, then, otherwise)
        else:
            made[node] = subst.with_children(node, (*subst.children(node)[:1], then, otherwise))
    return made[node]


def inputs_of(*nodes: Node) -> set[Source]:
    """The tensors that the terms read, also through scopes."""
    bodies = [stage.body for node in nodes for part in subst.walk(node) for stage in _read(part)]
    read = {access.source for body in (*nodes, *bodies) for access in subst.accesses(body)}
    return {source for source in read if is_input(source)}


def terms_to_factor(body: Node) -> tuple[Node, ...]:
    """The terms of a sum, or what a choice may choose, without 0: that has every factor."""
    if isinstance(body, Add):
        return body.terms
    found = tuple(node for node in chosen(body) if node is not NOTHING and not subst.branches(node))
    if not subst.branches(body) or not found:
        raise RuleRefused("the body is not a sum of terms, nor a choice")
    return found


def chosen(body: Node) -> tuple[Node, ...]:
    """A choice, the choices within it, and all that these may choose."""
    return tuple(subst.reached([body], subst.branches))


def deciding(body: Node) -> tuple[Node, ...]:
    """The values that decide a choice, or one of those within it."""
    return tuple(n.args[0] for n in chosen(body) if isinstance(n, Apply) and subst.branches(n))


def asked(body: Node) -> int:
    """The bit set of the iterators of the conditions that decide a choice."""
    chosen_by = [node for node in chosen(body) if isinstance(node, Select)]
    rows = [affine.mask(c.row) for node in chosen_by for c in node.conditions]
    return reduce(or_, [*rows, *(value.free for value in deciding(body))], 0)
