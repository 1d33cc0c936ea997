"""A term or factor without the iterators of a max or min moves out of it.

    max[k] (a(k) + c)  =  max[k] a(k) + c         c does not use k
    max[k] c*a(k)      =  c*max[k] a(k)           for a number c > 0
                       =  c*min[k] a(k)           for a number c < 0;  likewise for min

The identities hold for all numbers, infinities included, but not for NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from einderive.derivations.effects.forms import exact_coefficient
from einderive.derivations.effects.nonfinite import drops_nothing, surely_finite
from einderive.derivations.effects.rounding import Exactness, is_difference
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import lift, reduced
from einderive.derivations.steps.told import Names
from einderive.ta.errors import RuleRefused
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Add, Const, Node, Scope
from einderive.ta.ir.subst import children


@dataclass(frozen=True, slots=True)
class Pull(Witness):
    """Moves a term or factor without the reduction iterators out of a max or min."""

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """`max[k] (a + c) = max[k] a + c`, or `max[k] c*a = c*max[k] a` for a number c."""
        if not REDUCERS[scope.reducer].order or not scope.sums:
            raise RuleRefused(f"only max and min let terms out, not {scope.reducer}")
        summed = reduced(scope)
        if isinstance(scope.body, Add):
            outside = _outside(scope.body, summed)
            inside = expr.add(*(term for term in scope.body.terms if term.free & summed))
            if not outside:
                raise RuleRefused("every term uses a reduction iterator")
            if any(isinstance(term, Const) and isinstance(term.value, float) for term in outside):
                raise RuleRefused("an infinite term may meet its opposite inside")
            body = expr.add(lift(inside, scope, summed), *outside)
            return make_scope(scope.loops, (), body)
        coefficient, core = expr.split_coefficient(scope.body)
        if not isinstance(coefficient, Fraction) or coefficient == 1 or not core.free & summed:
            raise RuleRefused("the body is neither a sum of terms nor a multiple of one")
        reducer = scope.reducer if coefficient > 0 else REDUCERS[scope.reducer].opposite
        swapped = make_scope(scope.loops, scope.sums, core, reducer)
        nested = lift(core, swapped, summed)
        return make_scope(scope.loops, (), expr.mul(expr.const(coefficient), nested))

    def told(self, scope: Scope, names: Names) -> str:
        summed = ", ".join(names.of(scope)[len(scope.loops) :])
        return f"what does not use {summed} moves out of the {scope.reducer}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """Rounding is monotone, so max (a + c) is (max a) + c in floating point too.  Of three
        terms, those that stay inside are added first."""
        operands = children(before.body)
        if len(operands) == 2:
            return "exact" if all(map(exact_coefficient, operands)) else "reassociates"
        return "cancels" if is_difference(before.body) else "reassociates"

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        body = before.body
        outside = _outside(body, reduced(before)) if isinstance(body, Add) else []
        return all(map(surely_finite, outside)) and drops_nothing(before, after)


def _outside(body: Add, summed: int) -> list[Node]:
    """The terms that use no reduction iterator."""
    return [term for term in body.terms if not term.free & summed]
