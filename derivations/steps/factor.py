"""A common factor taken out of a sum of terms.

    a*b + a*c  =  a*(b + c)

Source: the ring axioms.
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.effects.nonfinite import surely_finite
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Add, Scope
from einderive.ta.ir.subst import factors_of


@dataclass(frozen=True, slots=True)
class Factor(Witness):
    """`factor`: the position of the common factor among the first term's factors."""

    factor: int
    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The product, for a factor that all terms of the body have, and that no infinite number of
        the text makes infinite."""
        if not isinstance(scope.body, Add):
            raise RuleRefused("the body is not a sum of terms")
        first = factors_of(scope.body.terms[0])
        if not 0 <= self.factor < len(first):
            raise RuleRefused("the first term has no such factor")
        common = first[self.factor]
        if not common.free or any(common not in factors_of(t) for t in scope.body.terms):
            raise RuleRefused("not every term has this factor")
        if may_be_infinite(common):
            raise RuleRefused("the factor may be infinite")
        rest = [
            expr.mul(*(f for f in factors_of(term) if f is not common)) for term in scope.body.terms
        ]
        return make_scope(scope.loops, scope.sums, expr.mul(common, expr.add(*rest)), scope.reducer)

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        assert isinstance(before.body, Add)
        return surely_finite(factors_of(before.body.terms[0])[self.factor])
