"""Split.   S[s,t] g(s)*f(s,t)  =  S[s] g(s)*{L[s,x] S[t] f(s,t)}[s,x]."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.split_sum import SplitSum
from einderive.ta.ir.node import Scope

MOST_ITERATORS = 6
"""With more reduction iterators than this, only single ones and their complements are proposed."""


def propose(scope: Scope) -> Iterator[Witness]:
    """Every proper non-empty subset of the reduction iterators as the inner sum."""
    count = len(scope.sums)
    sizes = range(1, count) if count <= MOST_ITERATORS else sorted({1, count - 1})
    for size in sizes:
        for inner in combinations(range(count), size):
            yield SplitSum(inner)


SPLIT_SUM = Rule(
    name="split-sum",
    formula=(
        "sum[s,t](g(s)*f(s,t)) = sum[s](g(s)*sum[t](f(s,t)))\n"
        "max[s,t](f(s,t)) = max[s](max[t](f(s,t)))\n"
        "min[s,t](f(s,t)) = min[s](min[t](f(s,t)))\n"
        "prod[s,t](f(s,t)) = prod[s](prod[t](f(s,t)))"
    ),
    conditions="at least one reduction iterator goes inside; factors without it stay outside a sum",
    choices="any proper non-empty subset of the reduction iterators",
    exactness="reassociates",
    assumes_no_nan=(
        "unless the factors that stay outside are numbers or integers: S inf*f becomes inf*(S f)"
    ),
    source="EinNet, OSDI'23, summation splitting",
    propose=propose,
    examples=(
        Example(
            "{L[h:0:6,w:0:6] S[r:0:3,s:0:3] A[h+r,w+s]}",
            "{L[i:0:6,j:0:6] S[k:0:3] {L[i:0:6,j:0:6,k:0:3] S[l:0:3] A[i+k,j+l]}[i,j,k]}",
            sizes={"A": (8, 8)},
        ),
        Example(
            "{L[i:0:4,e:0:2] S[d:0:3,j:0:5] K[j,d]*Q[i,d]*V[j,e]}",
            "{L[i:0:4,j:0:2] S[k:0:5] {L[i:0:4,k:0:5] S[l:0:3] K[k,l]*Q[i,l]}[i,k]*V[k,j]}",
        ),
    ),
    refusals=(
        Refusal("{S[k:0:4] A[k]}", SplitSum((0,)), "nothing would stay outside"),
        Refusal("{S[k:0:4] A[k]}", SplitSum((1,)), "at least one"),
    ),
)
