"""Split.   S[s,t] g(s)*f(s,t)  =  S[s] g(s)*{L[s,x] S[t] f(s,t)}[s,x]."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from einderive.derivations.rule import Rule, stated
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


SPLIT_SUM = Rule(**stated(__name__), propose=propose)
