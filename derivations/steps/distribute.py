"""A reduction that distributes over the terms of its body.

S[s] (c1*a + c2*b)   =  c1*{S[s] a} + c2*{S[s] b}         each a scope of its own
prod[s] a*b          =  {prod[s] a}*{prod[s] b}
max[s] maximum(a,b)  =  maximum({max[s] a}, {max[s] b})   and min over minimum
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.effects.nonfinite import drops_nothing, surely_finite
from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.effects.uncentred import raw_difference
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import lift, reduced
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Add, Apply, Const, Mul, Node, Reducer, Scope
from einderive.ta.ir.subst import children, walk, with_children


@dataclass(frozen=True, slots=True)
class Distribute(Witness):
    """Makes each term of the body a scope of its own."""

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The terms, factors or operands of the body, each reduced by itself."""
        if not scope.sums or not distributes(scope.body, scope.reducer):
            raise RuleRefused(
                "only a sum over terms, a prod over factors, max over maximum and min over minimum"
                " distribute"
            )
        body, summed = scope.body, reduced(scope)
        if isinstance(body, Mul) and expr.split_coefficient(body)[0] != 1:
            raise RuleRefused("a number would be raised to the power of the number of factors")
        if isinstance(body, Add):
            split = map(expr.split_coefficient, body.terms)
            parts = [expr.mul(expr.const(c), lift(core, scope, summed)) for c, core in split]
        else:
            parts = [lift(operand, scope, summed) for operand in children(body)]
        return make_scope(scope.loops, (), with_children(body, tuple(parts)))

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        parts = children(scope.body)
        texts = [names.term(part, scope) for part in parts]
        return tuple((f"f{number}", text) for number, text in enumerate(texts, 1))

    def told(self, scope: Scope, names: Names) -> str:
        return f"each of the {len(children(scope.body))} parts gets a {scope.reducer} of its own"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """The reductions change places, and no sum within a body does."""
        if before.reducer == "sum":
            return "cancels"
        return "reassociates" if before.reducer == "prod" else "exact"

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        infinite = any(isinstance(t, Const) and not surely_finite(t) for t in walk(before.body))
        return not infinite and drops_nothing(before, after)

    def multiplies_uncentred(self, before: Scope) -> bool:
        body = before.body
        return before.reducer == "sum" and isinstance(body, Add) and raw_difference(body)


def distributes(body: Node, reducer: Reducer) -> bool:
    """Whether the reducer is the operation that the body is made by."""
    if isinstance(body, Apply):
        return FUNCTIONS[body.function].reducer == reducer
    return isinstance(body, Mul if reducer == "prod" else Add) and reducer in ("sum", "prod")
