"""Merge.   {L[y in Y] S[t] g(y,t)}[φ(x)] as a factor  =  S[t] g(φ(x),t) in its place."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.merge import Merge, reads
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every nested scope that the body reads."""
    for stage in range(len(reads(scope))):
        yield Merge(stage)


MERGE_STAGE = Rule(
    name="merge-stage",
    formula=(
        "sum[s](h(s)*sum[t](g(s,t))) = sum[s,t](h(s)*g(s,t))\n"
        "{L[y:a:b] g(y)}[p] = where(a <= p < b, g(p), 0)"
    ),
    conditions=(
        "φ(x) stays in Y, or the body is 0 where φ(x) leaves Y, or a condition guards the body; a "
        "nested reduction is a factor of the whole body, once"
    ),
    choices="every nested scope that is read",
    exactness="cancels",
    assumes_no_nan=(
        "where a sum merges beside a factor: inf*(S f) becomes S inf*f; where a product read "
        "outside of its loops is 0: 0 times a value outside comes in; where reads become equal and"
        " cancel"
    ),
    source="EinNet, OSDI'23, traversal merging",
    propose=propose,
    examples=(
        Example(
            "{L[t:0:4,o:0:5] S[i:0:6] X[t,i]*{L[o:0:5,i:0:6] S[r:0:2] B[o,r]*A[r,i]}[o,i]}",
            "{L[i:0:4,j:0:5] S[k:0:2,l:0:6] A[k,l]*B[j,k]*X[i,l]}",
        ),
        Example(
            "{L[h:0:6] S[r:0:3] {L[x:0:6] exp(A[x])}[h+r-1]}",
            "{L[i:0:6] S[j:0:3] where(i+j >= 1 and i+j < 7, exp(A[i+j-1]), 0)}",
        ),
    ),
    refusals=(
        Refusal(
            "{L[i:0:4] S[j:0:4] exp({L[i:0:4] S[k:0:4] A[i,k]}[i])*A[i,j]}",
            Merge(0),
            "a factor of the whole body",
        ),
        Refusal(
            "{L[i:0:4] S[j:0:4] {L[i:0:4] max[k:0:4] A[i,k]}[i]*A[i,j]}", Merge(0), "does not merge"
        ),
    ),
)
