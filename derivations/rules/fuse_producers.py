"""Fuse producers.   g(E[x], S[k] E[x,k]) with E = {L f}  =  g(f(x), S[k] f(x,k))."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
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


FUSE_PRODUCERS = Rule(**stated(__name__), propose=propose)
