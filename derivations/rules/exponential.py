"""Exponential.   exp(a + b)  =  exp(a)*exp(b),  in both directions."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.exponential import Exponential, exponents_of
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Add, Mul, Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """The terms under an exp that use fewer iterators than the others, by the iterators they use;
    all exps of a product at once."""
    for position, term in enumerate(walk(scope.body)):
        if isinstance(term, Mul):
            exps = tuple(p for p, factor in enumerate(term.factors) if exponents_of(factor))
            if len(exps) > 1:
                yield Exponential(position, exps)
        for argument in exponents_of(term):
            if isinstance(argument, Add):
                for free in dict.fromkeys(part.free for part in argument.terms):
                    parts = [p for p, part in enumerate(argument.terms) if part.free == free]
                    if free != argument.free:
                        yield Exponential(position, tuple(parts))


EXPONENTIAL = Rule(**stated(__name__), propose=propose, laws=("exp-sum",))
