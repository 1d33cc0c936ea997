"""Hoist.   S[t] a*f(t)  =  a*{L[x] S[t] f(t)}[x]   for a free of t."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
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


HOIST = Rule(
    name="hoist",
    formula="sum[t](a*f(t)) = a*sum[t](f(t))",
    conditions="a does not use t; a sum",
    choices="all factors without a reduction iterator",
    exactness="reassociates",
    assumes_no_nan=(
        "unless the factors that stay outside are numbers or integers: S inf*f becomes inf*(S f)"
    ),
    source="distributivity",
    propose=propose,
    examples=(
        Example("{L[i:0:4] S[k:0:6] G[i]*X[i,k]}", "{L[i:0:4] G[i]*{L[i:0:4] S[j:0:6] X[i,j]}[i]}"),
        Example("{L[i:0:4] S[k:0:6] X[i,k]/6}", "{L[i:0:4] {L[i:0:4] S[j:0:6] X[i,j]}[i]/6}"),
    ),
    refusals=(Refusal("{L[i:0:4] max[k:0:6] X[i,k]}", SplitSum((0,)), "nothing would stay"),),
)
