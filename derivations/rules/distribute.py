"""Distribute.   S[s] (a + b)  =  {S[s] a} + {S[s] b}."""

from __future__ import annotations

from collections.abc import Iterator

from derivations.kernel import Witness
from derivations.restructure import Distribute
from derivations.rule import Example, Refusal, Rule
from ta.node import Add, Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Whenever the body of a sum is a sum of terms."""
    if scope.sums and isinstance(scope.body, Add):
        yield Distribute()


DISTRIBUTE = Rule(
    name="distribute",
    formula="S[s] (a + b) = {S[s] a} + {S[s] b}",
    conditions="the reduction is a sum",
    choices="none",
    exactness="cancels",
    source="linearity of summation",
    propose=propose,
    examples=(
        Example(
            {"X": (4, 6), "W": (5, 6), "D": (5, 6)},
            "{L[t:0:4,o:0:5] S[i:0:6] X[t,i]*W[o,i] + X[t,i]*D[o,i]}",
            "{L[i:0:4,j:0:5] {L[i:0:4,j:0:5] S[k:0:6] D[j,k]*X[i,k]}[i,j] + "
            "{L[i:0:4,j:0:5] S[k:0:6] W[j,k]*X[i,k]}[i,j]}",
        ),
    ),
    refusals=(
        Refusal({"A": (4,), "B": (4,)}, "{max[k:0:4] A[k] + B[k]}", Distribute(), "only a sum"),
    ),
)
