"""A product of many factors contracted pair by pair.

    S[j,k,l] a(i,j)*b(j,k)*c(k,l)*d(l,m)  =  S[k] {S[j] a*b}[i,k] * {S[l] c*d}[k,m]

Each pair becomes a scope of its own.  This scope sums over the reduction iterators that only the
pair uses.  The step is summation splitting, several times.
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.effects.nonfinite import drops_nothing, surely_finite
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import lift, reduced
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Const, Node, Scope
from einderive.ta.ir.subst import factors_of, substitute


@dataclass(frozen=True, slots=True)
class ContractPairs(Witness):
    """Contracts a product pair by pair.

    - `path`: two positions for each contraction, among the factors that are left (numbers not
      counted). A pair leaves the list, and its product joins the list at the end.
    """

    path: tuple[int, ...]

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope whose factors are contracted along the path."""
        if scope.reducer != "sum" or not scope.sums:
            raise RuleRefused("only a sum of products is contracted pair by pair")
        if not self.path or len(self.path) % 2:
            raise RuleRefused("the path is not a list of pairs")
        first, left, summed = len(scope.loops), plain_factors(scope), 0
        for one, other in zip(self.path[::2], self.path[1::2], strict=True):
            if one == other or not (0 <= one < len(left) and 0 <= other < len(left)):
                raise RuleRefused("the path names a factor that is not there")
            if len(left) < 3:
                raise RuleRefused("the last two factors are the scope's own product")
            pair = [left[one], left[other]]
            left = [factor for place, factor in enumerate(left) if place not in (one, other)]
            elsewhere = 0
            for factor in left:
                elsewhere |= factor.free
            inner = (pair[0].free | pair[1].free) & reduced(scope) & ~elsewhere
            left.append(lift(expr.mul(*pair), scope, inner))
            summed |= inner
        coefficient = [f for f in factors_of(scope.body) if isinstance(f, Const)]
        kept = [i for i in range(first, len(scope.domain)) if not summed >> i & 1]
        rows = {i: affine.iterator(i) for i in range(first)}
        rows |= {old: affine.iterator(first + new) for new, old in enumerate(kept)}
        body = substitute(expr.mul(*coefficient, *left), rows)
        return make_scope(scope.loops, [scope.domain[i] for i in kept], body)

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        texts = [names.term(factor, scope) for factor in plain_factors(scope)]
        return tuple((f"factor {number}", text) for number, text in enumerate(texts, 1))

    def told(self, scope: Scope, names: Names) -> str:
        left = [str(number) for number, _ in enumerate(plain_factors(scope), 1)]
        for one, other in zip(self.path[::2], self.path[1::2], strict=False):
            pair = f"({left[one]} {left[other]})"
            left = [text for place, text in enumerate(left) if place not in (one, other)] + [pair]
        return f"the factors are multiplied in pairs: {' '.join(left)}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return all(map(surely_finite, plain_factors(before))) and drops_nothing(before, after)


def plain_factors(scope: Scope) -> list[Node]:
    """The factors of the body other than numbers."""
    return [factor for factor in factors_of(scope.body) if not isinstance(factor, Const)]
