"""A law of a function, where it can only help.

    f(g(x)) = x        exp(log(x)) = x for x > 0, log(exp(x)) = x, sqrt(x)^2 = x for x >= 0

The laws are data (`ta.laws`): those that say that they help.  What they require of x has to be
known from its form, or promised (`ta.facts.signs`).
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import sub_term
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.instances import instance
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import replace_node


@dataclass(frozen=True, slots=True)
class ByLaw(Witness):
    """`term`: the position in `walk(body)` of the left side of a law."""

    term: int
    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The right side in its place."""
        term = sub_term(scope, self.term)
        found = instance(term, scope.domain)
        if found is None:
            raise RuleRefused("no law has this term as its left side, or what it requires is open")
        body = replace_node(scope.body, term, found.right)
        return make_scope(scope.loops, scope.sums, body, scope.reducer)

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """Two roundings fewer."""
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        found = instance(sub_term(before, self.term), before.domain)
        return found is not None and found.law.keeps
