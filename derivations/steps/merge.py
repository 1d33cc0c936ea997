"""A read of a nested scope replaced by the scope's body.

    a * {L[y] S[t] g(y,t)}[φ(x)]  =  S[t] a * g(φ(x),t)

If the nested scope has no reduction, the read may stand anywhere in the body.  If it has one, the
read has to be a factor of the whole body.  If the read may leave the nested loops, a condition
guards the body, unless the body is shown to be 0 there.
Source: EinNet (OSDI'23), traversal merging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from einderive.derivations.effects.nonfinite import drops_nothing, surely_finite, zero_whatever_else
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.maps import leaving_text, names_of, term_text
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.facts.zeros import vanishes_outside
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Condition, Node, Reducer, Scope, Select
from einderive.ta.ir.subst import accesses, factors_of, replace_node, substitute, walk
from einderive.ta.printing.marks import row_text


@dataclass(frozen=True, slots=True)
class Merge(Witness):
    """Inlines a nested scope.

    - `stage`: its number among the scopes that the body reads (in the order of `reads`).
    """

    folds: ClassVar[bool] = True

    stage: int

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The chosen nested read replaced by the nested scope's body."""
        found = reads(scope)
        if not 0 <= self.stage < len(found):
            raise RuleRefused("the body has no such read of a nested scope")
        access, source = found[self.stage]
        if source.empty:
            raise RuleRefused("an iterator of the nested scope has an empty range")
        reducer = _merged_reducer(scope, access, source)
        outer = len(scope.domain)
        fresh = affine.iterator_rows(outer + len(source.sums))[outer:]
        inlined = substitute(source.body, (*access.rows, *fresh))
        inlined = _guarded(inlined, access, source, scope.domain, exact)
        body = replace_node(scope.body, access, inlined)
        return make_scope(scope.loops, scope.sums + source.sums, body, reducer)

    def bound(self, scope: Scope, names: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
        names = list(names) or names_of(scope)
        access, source = reads(scope)[self.stage]
        leaves = affine.leaving(access.rows, source.loops, scope.domain)
        return (
            ("the stage", term_text(source, scope, ())),
            ("φ", ", ".join(row_text(row, names) for row in access.rows)),
            ("leaves its loops", leaving_text(leaves, names, scope.domain)),
        )

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        _, source = reads(before)[self.stage]
        return judged("reassociates" if source.sums else "exact", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        access, source = reads(before)[self.stage]
        guarded = guards(after) > guards(before) + guards(source)
        leaves = affine.leaving(access.rows, source.loops, before.domain)
        if leaves and not guarded and not zero_whatever_else(source.body):
            return False
        beside = [factor for factor in factors_of(before.body) if factor is not access]
        if source.sums and not all(map(surely_finite, beside)):
            return False
        return drops_nothing(before, after)


def reads(scope: Scope) -> tuple[tuple[Access, Scope], ...]:
    """The accesses of the body to nested scopes, each with its scope."""
    return tuple((a, a.source) for a in accesses(scope.body) if isinstance(a.source, Scope))


def guards(scope: Scope) -> int:
    """The number of conditions in the body."""
    return sum(isinstance(node, Select) for node in walk(scope.body))


def _merged_reducer(scope: Scope, access: Access, source: Scope) -> Reducer:
    if not source.sums:
        return scope.reducer
    if scope.body is access and (not scope.sums or scope.reducer == source.reducer):
        return source.reducer
    plain_factor = (
        access in factors_of(scope.body)
        and sum(node is access for factor in factors_of(scope.body) for node in walk(factor)) == 1
    )
    if not plain_factor:
        raise RuleRefused("a sum merges only where its read is a factor of the whole body, once")
    if source.reducer != "sum" or (scope.sums and scope.reducer != "sum"):
        raise RuleRefused(f"a {source.reducer} does not merge into a product under {scope.reducer}")
    if any(may_be_infinite(f) for f in factors_of(scope.body) if f is not access):
        raise RuleRefused("an infinite number multiplies the nested sum")
    return "sum"


def _guarded(
    inlined: Node, access: Access, source: Scope, domain: Sequence[Range], exact: bool
) -> Node:
    """The inlined body, behind a condition wherever it would be read outside the nested loops."""
    escaping = affine.leaving(access.rows, source.loops, domain)
    if not escaping:
        return inlined
    neutral = access.fill == 0 and source.reducer == "sum"
    if neutral and vanishes_outside(inlined, (*domain, *source.sums), escaping, exact):
        return inlined
    if source.sums and not neutral:
        raise RuleRefused("the nested reduction is read outside its loops, where it has a fill")
    rooms = [room for row, bound in escaping for room in affine.room(row, bound)]
    conditions = [Condition(">=", room) for room in rooms]
    return expr.select(conditions, inlined, expr.const(access.fill))


@lru_cache(maxsize=1 << 14)
def needs_guard(access: Access, source: Scope, domain: tuple[Range, ...], exact: bool) -> bool:
    """Whether merging a scope without a reduction into a reader over the domain needs a condition
    around it, because the read may leave its loops."""
    escaping = affine.leaving(access.rows, source.loops, domain)
    if not escaping:
        return False
    inlined = substitute(source.body, access.rows)
    return access.fill != 0 or not vanishes_outside(inlined, domain, escaping, exact)
