"""A difference of centred operands.

    a[i,k] - b[j,k]  =  {L[i,k] a[i,k] - m[k]}[i,k] - {L[j,k] b[j,k] - m[k]}[j,k]      for any m

m is the mean of one operand over the indices that the other operand lacks,

    m[k]  =  finite({L[k] S[i] a[i,k]/n}[k])

If both operands lie around a common point, the centred operands are small, and can be multiplied
out without a loss of digits.  Without centring, (a - b)^2 as a^2 - 2*a*b + b^2 loses the digits of
that point.

The identity holds for any m.  If data are infinite or NaN, `finite` replaces their mean by 0, so
that the other rows keep their values.  The centred operands are scopes of their own, since a sum of
all four terms would be a - b again.

The scopes are made by `ta.facts.centred`.

Source: the shift of the data in the textbook formula of the variance (T. F. Chan, G. H. Golub, R.
J. LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import sub_term
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.centred import less, mean_of
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Add, Node, Scope
from einderive.ta.ir.subst import replace_node


@dataclass(frozen=True, slots=True)
class Centre(Witness):
    """Centres a difference.

    - `term`: the position of the difference in `ta.ir.subst.walk(body)`.
    - `parts`: the positions of two of its terms; the mean is that of the first.
    - `kept`: the iterators of m.
    """

    term: int
    parts: tuple[int, ...]
    kept: tuple[int, ...]

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope with two terms of a difference centred."""
        if may_be_infinite(scope.body):
            # inf*(a - b) has a value where inf*((a - m) - b + m) has none
            raise RuleRefused("an infinite number takes part")
        total, parts = self._difference(scope)
        signs = [1 if expr.split_coefficient(part)[0] > 0 else -1 for part in parts]
        if signs[0] == signs[1]:
            raise RuleRefused("neither term is subtracted from the other")
        kept = tuple(sorted(set(self.kept)))
        shared = parts[0].free & parts[1].free
        if any(i < 0 or not shared >> i & 1 for i in kept):
            raise RuleRefused("the mean would have an iterator that the terms do not share")
        positive = [expr.mul(expr.const(s), part) for s, part in zip(signs, parts, strict=True)]
        mean = mean_of(positive[0], scope.domain, kept)
        if mean is None:
            raise RuleRefused("there is nothing to take a mean over")
        centred = [
            expr.mul(expr.const(sign), less(part, mean, scope.domain, kept))
            for sign, part in zip(signs, positive, strict=True)
        ]
        rest = [term for term in total.terms if term not in parts]
        sum_of_all = expr.add(*rest, *centred)
        if not isinstance(sum_of_all, Add) or len(sum_of_all.terms) != len(total.terms):
            raise RuleRefused("a centred term stands in the sum already")
        body = replace_node(scope.body, total, sum_of_all)
        return make_scope(scope.loops, scope.sums, body, scope.reducer)

    def _difference(self, scope: Scope) -> tuple[Add, tuple[Node, Node]]:
        total = sub_term(scope, self.term)
        if not isinstance(total, Add):
            raise RuleRefused("the sub-term is not a sum of terms")
        if len(self.parts) != 2 or len(set(self.parts)) != 2:
            raise RuleRefused("two terms are centred")
        if any(not 0 <= p < len(total.terms) for p in self.parts):
            raise RuleRefused("the sub-term has no such operands")
        first, second = self.parts
        return total, (total.terms[first], total.terms[second])

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        _, (first, second) = self._difference(scope)
        return (
            ("a", names.term(first, scope)),
            ("b", names.term(second, scope)),
            ("the mean keeps", self._kept(scope, names) or "nothing"),
        )

    def told(self, scope: Scope, names: Names) -> str:
        _, terms = self._difference(scope)
        a, b = (names.term(term, scope) for term in terms)
        kept = self._kept(scope, names)
        of = f"{a} for each {kept}" if kept else a
        return f"the mean of {of} is subtracted from {a}, and added to {b}"

    def _kept(self, scope: Scope, names: Names) -> str:
        return ", ".join(names.of(scope)[i] for i in sorted(set(self.kept)))

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return "cancels"

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """True: the number that is subtracted from both terms is finite, whatever the terms are."""
        return True
