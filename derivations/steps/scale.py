"""A constant factor moves out of a function.

    relu(c*a)  =  c*relu(a)          for c > 0
    abs(c*a)   =  abs(c)*abs(a)

The first identity holds for every function of one operand that compares, the second for those that
are even.  Both hold for all numbers, infinities included, but not for NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from einderive.derivations.effects.nonfinite import drops_nothing
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import sub_term
from einderive.derivations.steps.told import Names
from einderive.ta.errors import RuleRefused
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Apply, Const, Node, Scope
from einderive.ta.ir.subst import replace_node


@dataclass(frozen=True, slots=True)
class Scale(Witness):
    """Moves a constant factor out of a function.

    - `term`: the function's position in `ta.ir.subst.walk(body)`.
    """

    term: int
    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The body in which the number multiplies the function instead of its operand."""
        term = sub_term(scope, self.term)
        new = scaled(term)
        if new is None:
            raise RuleRefused(
                "the sub-term is not relu or abs of a multiple by a number of their kind"
            )
        body = replace_node(scope.body, term, new)
        return make_scope(scope.loops, scope.sums, body, scope.reducer)

    def told(self, scope: Scope, names: Names) -> str:
        return f"the number moves out of {names.term(sub_term(scope, self.term), scope)}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return drops_nothing(before, after)


def scaled(term: Node) -> Node | None:
    """`c*f(a)` for a term `f(c*a)`, if the identity holds for f and c."""
    if not isinstance(term, Apply) or len(term.args) != 1:
        return None
    pieces = FUNCTIONS[term.function].pieces
    if pieces is None or not pieces.continuous:
        return None
    coefficient, core = expr.split_coefficient(term.args[0])
    if not isinstance(coefficient, Fraction) or coefficient == 1 or isinstance(core, Const):
        return None
    if coefficient < 0 and not pieces.even:
        return None
    return expr.mul(expr.const(abs(coefficient)), expr.apply(term.function, core))
