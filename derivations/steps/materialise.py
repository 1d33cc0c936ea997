"""A sub-term becomes a scope of its own.

f(x)  =  {L[x] f(x)}[x]      for a sub-term f, over the iterators that it uses
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from einderive.derivations.effects.nonfinite import drops_nothing
from einderive.derivations.effects.rounding import Exactness, is_difference, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import lift, sub_term
from einderive.derivations.steps.told import UNNAMED, Names, iterators_text
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Mul, Node, Scope
from einderive.ta.ir.subst import children, replace_node, walk


@dataclass(frozen=True, slots=True)
class Materialise(Witness):
    """Makes a sub-term a scope of its own.

    - `term`: its position in `walk(body)`.
    - `parts`: if only some operands of a product or sum are meant, their positions; empty for the
      whole.
    """

    makes_views: ClassVar[bool] = True

    term: int
    parts: tuple[int, ...] = ()

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope that reads the sub-term."""
        term = self._meant(scope)
        if isinstance(term, Access) and all(row.lone is not None for row in term.rows):
            raise RuleRefused("the sub-term is a plain read already")
        if not term.free or (term is scope.body and not scope.sums):
            raise RuleRefused("nothing would be left to do outside the new scope")
        new = replace_node(scope.body, term, lift(term, scope, 0))
        return make_scope(scope.loops, scope.sums, new, scope.reducer, resolved=True)

    def _meant(self, scope: Scope) -> Node:
        """The sub-term, or the product or sum of those of its operands that are meant."""
        term = sub_term(scope, self.term)
        if self.parts:
            if not isinstance(term, Mul | Add):
                raise RuleRefused("the sub-term is neither a product nor a sum of terms")
            operands = children(term)
            if any(not 0 <= p < len(operands) for p in self.parts):
                raise RuleRefused("the sub-term has no such operands")
            chosen = [operands[p] for p in dict.fromkeys(self.parts)]
            term = expr.mul(*chosen) if isinstance(term, Mul) else expr.add(*chosen)
        return term

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        own, term = names.of(scope), self._meant(scope)
        held = [i for i in range(len(scope.domain)) if term.free >> i & 1]
        ranges = iterators_text([own[i] for i in held], [scope.domain[i] for i in held])
        return (("f", names.term(term, scope)), ("its iterators", ranges))

    def told(self, scope: Scope, names: Names) -> str:
        return f"{names.term(self._meant(scope), scope)} becomes a tensor of its own"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """The chosen operands may be some of several sums or products of the body."""
        term = sub_term(before, self.term)
        operands = children(term)
        meant = {operands[p] for p in self.parts} or {*operands}
        opened = isinstance(term, Add) and any(
            isinstance(node, Add) and meant < {*children(node)} and is_difference(node)
            for node in walk(before.body)
        )
        return judged("cancels" if opened else "exact", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return drops_nothing(before, after)
