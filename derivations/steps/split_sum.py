"""A sum split into two sums.

    S[s,t] g(s)*f(s,t)  =  S[s] g(s)*{L[s,x] S[t] f}[s,x]        (hoist: s empty)

For max, min and prod the whole body moves, since no factor may move out of these.
Source: EinNet (OSDI'23), summation splitting.
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.effects.nonfinite import drops_nothing, surely_finite
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import lift
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import factors_of, substitute


@dataclass(frozen=True, slots=True)
class SplitSum(Witness):
    """Splits a sum in two.

    - `inner`: the reduction iterators (positions among them, 0 first) that go into a new scope.
    """

    inner: tuple[int, ...]

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """Factors without the inner iterators stay outside; the others move into a nested scope."""
        first, count = len(scope.loops), len(scope.sums)
        if not self.inner or any(not 0 <= s < count for s in self.inner):
            raise RuleRefused("the inner sum needs at least one of the scope's reduction iterators")
        inside, outside = self._factors(scope)
        if not outside and len(set(self.inner)) == count:
            raise RuleRefused("nothing would stay outside the inner sum")
        nested = lift(expr.mul(*inside), scope, self._summed(scope))
        kept = [s for s in range(count) if s not in self.inner]
        rows = list(affine.iterator_rows(first + count))
        for new, old in enumerate(kept, first):
            rows[first + old] = affine.iterator(new)
        body = substitute(expr.mul(*outside, nested), rows)
        sums = [scope.sums[s] for s in kept]
        return make_scope(scope.loops, sums, body, scope.reducer, resolved=True)

    def _summed(self, scope: Scope) -> int:
        """The bit set of the inner iterators."""
        return sum(1 << (len(scope.loops) + s) for s in set(self.inner))

    def _factors(self, scope: Scope) -> tuple[list[Node], list[Node]]:
        """The factors that move, and those that stay."""
        if scope.reducer != "sum":
            return [scope.body], []
        factors, summed = factors_of(scope.body), self._summed(scope)
        return [f for f in factors if f.free & summed], [f for f in factors if not f.free & summed]

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        summed = names.of(scope)[len(scope.loops) :]
        inside, outside = self._factors(scope)
        return (
            ("s", ", ".join(n for p, n in enumerate(summed) if p not in self.inner) or "none"),
            ("t", ", ".join(summed[p] for p in self.inner)),
            ("g(s)", names.term(expr.mul(*outside), scope)),
            ("f(s,t)", names.term(expr.mul(*inside), scope)),
            ("reduction iterators inside", f"{len(set(self.inner))} of {len(summed)}"),
        )

    def told(self, scope: Scope, names: Names) -> str:
        """`the inner sum runs over t`."""
        summed = names.of(scope)[len(scope.loops) :]
        inner = ", ".join(summed[s] for s in self.inner)
        return f"the inner {scope.reducer} runs over {inner or 'nothing'}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        _, outside = self._factors(before)
        return all(map(surely_finite, outside)) and drops_nothing(before, after)
