"""Fuse producers.   g(E[x], S[k] E[x,k]) with E = {L f}  =  g(f(x), S[k] f(x,k))."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages


def propose(scope: Scope) -> Iterator[Witness]:
    """Every scope that reads a scope without a reduction through others: single merges would not
    show what the whole becomes."""
    deeper = (stage for nested in nested_scopes(scope) for stage in stages(nested)[:-1])
    if any(not stage.sums for stage in deeper):
        yield Fuse()


FUSE_PRODUCERS = Rule(
    name="fuse-producers",
    formula="{L[y:a:b] f(y)}[p] = f(p) where p in a:b",
    conditions="the producer has no reduction, and its readers stay inside its loops",
    choices="all such producers below the scope at once",
    exactness="cancels",
    assumes_no_nan=(
        "where a producer is read outside of its loops: 0 times a value outside comes in"
    ),
    source="EinNet, OSDI'23, expression fusion",
    propose=propose,
    examples=(
        Example(
            "{L[i:0:4,k:0:6] {L[i:0:4,k:0:6] exp(X[i,k])}[i,k]/"
            "{L[i:0:4] S[k:0:6] {L[i:0:4,k:0:6] exp(X[i,k])}[i,k]}[i]}",
            "{L[i:0:4,j:0:6] exp(X[i,j])/{L[i:0:4] S[k:0:6] exp(X[i,k])}[i]}",
        ),
    ),
    refusals=(
        Refusal("{L[i:0:4] exp(A[i])}", Fuse(), "no producer"),
        Refusal("{L[i:0:4] exp({L[i:0:4] S[k:0:3] A[i,k]}[i])}", Fuse(), "no producer"),
    ),
)
