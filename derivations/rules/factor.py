"""Factor.   a*b + a*c  =  a*(b + c)."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.factor import Factor
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Add, Scope
from einderive.ta.ir.subst import factors_of


def propose(scope: Scope) -> Iterator[Witness]:
    """Every factor that all terms of the body share."""
    if not isinstance(scope.body, Add):
        return
    first, *rest = (factors_of(term) for term in scope.body.terms)
    for position, common in enumerate(first):
        if common.free and all(common in factors for factors in rest):
            yield Factor(position)


FACTOR = Rule(**stated(__name__), propose=propose)
