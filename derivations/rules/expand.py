"""Expand.   (a + b)*c  =  a*c + b*c;   (a - b)^2  =  a^2 - 2*a*b + b^2."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.expand import Expand
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Add, Mul, Power, Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """Every body with a product that has a sum among its factors, or with a positive power of a
    sum."""
    for term in walk(scope.body):
        if isinstance(term, Mul) and any(isinstance(f, Add | Power) for f in term.factors):
            yield Expand()
            return
        if isinstance(term, Power) and term.exponent > 1 and isinstance(term.base, Add):
            yield Expand()
            return


EXPAND = Rule(**stated(__name__), propose=propose)
