"""Pull.   max[k] (a(k) + c) = max[k] a(k) + c;   max[k] c*a(k) = c*max[k] a(k) for c > 0."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.pull import Pull
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every max or min.  The kernel decides whether something can leave it."""
    if scope.sums and REDUCERS[scope.reducer].order:
        yield Pull()


PULL_FROM_REDUCER = Rule(**stated(__name__), propose=propose)
