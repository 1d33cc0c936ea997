"""Materialise.   f(x)  =  {L[x in X] f(x)}[x]   for a sub-term f of the body."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.materialise import Materialise
from einderive.ta.exact.one_term import equalities
from einderive.ta.ir.node import Access, Add, Const, Mul, Node, Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """The sub-terms worth a scope of their own:

    - compound reads (im2col is one);
    - terms that use fewer iterators than the scope has;
    - products with a nested reduction;
    - pairs of factors of a product of three or more;
    - the terms of a sum that use the same iterators, fewer than the others.

    An equality that selects a term of a sum is never one.
    """
    used = scope.body.free
    for position, term in enumerate(walk(scope.body)):
        if isinstance(term, Access):
            if any(row.lone is None and (row.terms or row.floors) for row in term.rows):
                yield Materialise(position)
            continue
        if equalities(term):
            continue
        if (term.free and term.free != used) or (term is not scope.body and _multiplies_sum(term)):
            yield Materialise(position)
        if isinstance(term, Mul):
            factors = [p for p, f in enumerate(term.factors) if not isinstance(f, Const)]
            if len(factors) > 2:
                for pair in combinations(factors, 2):
                    yield Materialise(position, pair)
        elif isinstance(term, Add):
            for free in dict.fromkeys(part.free for part in term.terms):
                parts = tuple(p for p, part in enumerate(term.terms) if part.free == free)
                if free and free != term.free and len(parts) > 1:
                    yield Materialise(position, parts)


def _multiplies_sum(term: Node) -> bool:
    """Whether the term is a product with a nested reduction: a scope of its own lets it merge."""
    return isinstance(term, Mul) and any(
        isinstance(factor, Access) and isinstance(factor.source, Scope) and factor.source.sums
        for factor in term.factors
    )


MATERIALISE = Rule(**stated(__name__), propose=propose)
