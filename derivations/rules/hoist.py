"""Hoist.   S[t] a*f(t)  =  a*{L[x] S[t] f(t)}[x]   for a free of t."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.split_sum import SplitSum
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import factors_of


def propose(scope: Scope) -> Iterator[Witness]:
    """All reduction iterators as inner ones, if a factor then stays outside.

    A number counts as such a factor: the rest may be a sum that others need as well (a mean, a
    total).
    """
    summed = ((1 << len(scope.sums)) - 1) << len(scope.loops)
    if scope.sums and scope.reducer == "sum":
        factors = factors_of(scope.body)
        if len(factors) > 1 and any(not f.free & summed for f in factors):
            yield SplitSum(tuple(range(len(scope.sums))))


HOIST = Rule(**stated(__name__), propose=propose)
