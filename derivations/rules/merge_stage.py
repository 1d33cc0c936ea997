"""Merge.   {L[y in Y] S[t] g(y,t)}[φ(x)] as a factor  =  S[t] g(φ(x),t) in its place."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.merge import Merge, reads
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every nested scope that the body reads."""
    for stage in range(len(reads(scope))):
        yield Merge(stage)


MERGE_STAGE = Rule(**stated(__name__), propose=propose)
