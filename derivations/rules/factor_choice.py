"""Factor out of a choice.   where(c, a*b, 0)  =  a*where(c, b, 0)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from einderive.derivations.rule import Rule, stated
from einderive.derivations.rules import materialise
from einderive.derivations.steps.factor import Factor, asked, terms_to_factor
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import branches, factors_of


def propose(scope: Scope) -> Iterator[Witness]:
    """In a sum, the factors that both branches share, if the rest uses fewer iterators.  The rest
    is then an operand of its own, and the sum a contraction (a triangular matrix times another)."""
    body = scope.body
    if not scope.sums or not branches(body):
        return
    terms = [factors_of(term) for term in terms_to_factor(body)]
    for position, common in enumerate(terms[0]):
        others = [f.free for factors in terms for f in factors if f is not common]
        shared = common.free and all(common in factors for factors in terms)
        if shared and others and reduce(or_, others, asked(body)) != body.free:
            yield Factor(position)


FACTOR_CHOICE = Rule(
    **stated(__name__), propose=propose, opening=True, then=(materialise.MATERIALISE,)
)
