"""A common factor taken out of a sum of terms, or out of a choice by conditions on indices.

    a*b + a*c            =  a*(b + c)
    where(c, a*b, a*d)   =  a*where(c, b, d)
    where(c, a*b, 0)     =  a*where(c, b, 0)

Source: the ring axioms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from einderive.derivations.effects.nonfinite import surely_finite
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.maps import term_text
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Node, Power, Scope, Select
from einderive.ta.ir.subst import factors_of, stages, walk

NOTHING = expr.const(0)


@dataclass(frozen=True, slots=True)
class Factor(Witness):
    """Takes out a common factor.  `factor` is its position among the first term's factors."""

    factor: int
    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The body as a product.  All terms of the body, or all branches, have to have the factor,
        and no infinite number of the text may make it infinite."""
        terms = terms_to_factor(scope.body)
        first = factors_of(terms[0])
        if not 0 <= self.factor < len(first):
            raise RuleRefused("the first term has no such factor")
        common = first[self.factor]
        if not common.free or any(common not in factors_of(t) for t in terms):
            raise RuleRefused("not every term has this factor")
        if may_be_infinite(common):
            raise RuleRefused("the factor may be infinite")
        if isinstance(scope.body, Select) and len(terms) == 1 and not _stays_finite(common):
            raise RuleRefused("the choice may hide where the factor is infinite")
        rest = {term: expr.mul(*(f for f in factors_of(term) if f is not common)) for term in terms}
        body = scope.body
        if isinstance(body, Select):
            inner = expr.select(body.conditions, rest[body.then], rest.get(body.otherwise, NOTHING))
        else:
            inner = expr.add(*(rest[term] for term in terms))
        return make_scope(scope.loops, scope.sums, expr.mul(common, inner), scope.reducer)

    def bound(self, scope: Scope, names: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
        terms = terms_to_factor(scope.body)
        common = factors_of(terms[0])[self.factor]
        return (("a", term_text(common, scope, names)), ("terms with it", f"all {len(terms)}"))

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return surely_finite(factors_of(terms_to_factor(before.body)[0])[self.factor])


def _stays_finite(node: Node) -> bool:
    """Whether the value is finite for all finite inputs, apart from overflow of sums and products:
    no quotient takes part, and no function.  Where a choice takes 0, a factor that is infinite
    would make NaN of it: `where(i > 0, a/b[i], 0)` often stands there to leave out b[0] = 0."""
    bodies = [stage.body for part in walk(node) for stage in _read(part)]
    return not any(
        isinstance(part, Apply) or (isinstance(part, Power) and part.exponent < 0)
        for body in (node, *bodies)
        for part in walk(body)
    )


def _read(node: Node) -> tuple[Scope, ...]:
    """The scopes that a read needs."""
    if isinstance(node, Access) and isinstance(node.source, Scope):
        return tuple(stages(node.source))
    return ()


def terms_to_factor(body: Node) -> tuple[Node, ...]:
    """The terms of a sum, or the branches of a choice.  A 0 as the right branch has every factor,
    so it is left out."""
    if isinstance(body, Add):
        return body.terms
    if isinstance(body, Select):
        return (body.then,) if body.otherwise is NOTHING else (body.then, body.otherwise)
    raise RuleRefused("the body is not a sum of terms, nor a choice")
