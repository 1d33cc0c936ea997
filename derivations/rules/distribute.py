"""Distribute.   S[s] (a + b)  =  {S[s] a} + {S[s] b},  and likewise prod, max and min."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.distribute import Distribute, distributes
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every body whose operation is the one that the scope reduces by."""
    if scope.sums and distributes(scope.body, scope.reducer):
        yield Distribute()


DISTRIBUTE = Rule(**stated(__name__), propose=propose)
