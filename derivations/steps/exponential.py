"""The law of the exponential.

    exp(a + b)  =  exp(a)*exp(b)         in both directions

It holds for finite numbers: in floating point, exp(a) may overflow or vanish where exp(a + b) does
not.
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import sub_term
from einderive.derivations.steps.told import Names
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Scope
from einderive.ta.ir.subst import replace_node, stages, walk


@dataclass(frozen=True, slots=True)
class Exponential(Witness):
    """Applies the law in one direction.

    - `term`: the position in `walk(body)` of exp of a sum of terms, or of a product with several
      exps among its factors.
    - `parts`: the positions of the terms that get an exp of their own, or of the factors that
      become one exp.
    """

    term: int
    parts: tuple[int, ...]
    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """`exp(a + b) = exp(a)*exp(b)` for the chosen terms a, or `exp(a)*exp(b) = exp(a + b)` for
        the chosen factors."""
        term, parts = sub_term(scope, self.term), set(self.parts)
        if any(map(_is_infinite, (node for stage in stages(scope) for node in walk(stage.body)))):
            raise RuleRefused("an infinite number takes part")
        if isinstance(term, Mul):
            chosen = [factor for p, factor in enumerate(term.factors) if p in parts]
            exponents = [exponent for factor in chosen for exponent in exponents_of(factor)]
            if len(chosen) != len(parts) or len(exponents) != len(chosen) or len(chosen) < 2:
                raise RuleRefused("the chosen factors are not several exps")
            rest = [factor for p, factor in enumerate(term.factors) if p not in parts]
            new = expr.mul(expr.apply("exp", expr.add(*exponents)), *rest)
        else:
            sums = [argument for argument in exponents_of(term) if isinstance(argument, Add)]
            if not sums:
                raise RuleRefused("the sub-term is neither exp of a sum nor a product")
            inside = [t for p, t in enumerate(sums[0].terms) if p in parts]
            others = [t for p, t in enumerate(sums[0].terms) if p not in parts]
            if len(inside) != len(parts) or not inside or not others:
                raise RuleRefused("both exps need a term of the sum")
            new = expr.mul(*(expr.apply("exp", expr.add(*side)) for side in (inside, others)))
        body = replace_node(scope.body, term, new)
        return make_scope(scope.loops, scope.sums, body, scope.reducer)

    def told(self, scope: Scope, names: Names) -> str:
        term = sub_term(scope, self.term)
        became = "one exp of a sum" if isinstance(term, Mul) else "a product of two exps"
        return f"{names.term(term, scope)} becomes {became}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return "cancels"

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """False: exp(1000)*exp(-1000) is NaN."""
        return False


def _is_infinite(node: Node) -> bool:
    """Whether the node is an infinite number, or a read that gives one as its fill."""
    value = node.value if isinstance(node, Const) else node.fill if isinstance(node, Access) else 0
    return isinstance(value, float)


def exponents_of(term: Node) -> tuple[Node, ...]:
    """The argument, if the term is an exp; else nothing."""
    return term.args if isinstance(term, Apply) and term.function == "exp" else ()
