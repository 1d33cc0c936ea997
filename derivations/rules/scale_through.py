"""Scale.   relu(c*a) = c*relu(a) for c > 0;   abs(c*a) = abs(c)*abs(a)."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.scale import Scale, scaled
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """Every relu and abs whose operand has a number as a factor."""
    for position, term in enumerate(walk(scope.body)):
        if scaled(term) is not None:
            yield Scale(position)


SCALE_THROUGH = Rule(**stated(__name__), propose=propose)
