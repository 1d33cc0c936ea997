"""Where a product with an infinity may be multiplied out.

inf*(a + b) has a value where inf*a + inf*b has none, and formal sums add infinities up by their
signs alone.  So an infinity is multiplied by single terms only, or by terms of which no two hold
together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from derivations.checker.formal import NotShown, Sum, Term, negations
from ta.node import Condition

Conditions = tuple[Condition, ...]


def require_single(factors: Sequence[Sum], guard: Callable[[Term], Conditions]) -> None:
    """NotShown where an infinite term of one factor meets what may be a sum of several terms in
    another; `guard` gives the conditions under which a term stands in its sum."""
    for place, factor in enumerate(factors):
        for term in factor:
            if term.infinite:
                region = frozenset(guard(term))
                for other in (*factors[:place], *factors[place + 1 :]):
                    _require_single(other, region, guard)


def _require_single(
    factor: Sum, region: frozenset[Condition], guard: Callable[[Term], Conditions]
) -> None:
    beside = [(term, guard(term)) for term in factor]
    beside = [(term, conditions) for term, conditions in beside if not excludes(region, conditions)]
    together = (
        not excludes(frozenset(one), other) for (_, one), (_, other) in combinations(beside, 2)
    )
    if any(term.bound for term, _ in beside) or any(together):
        raise NotShown("an infinity is multiplied by a sum")


def excludes(region: frozenset[Condition], guard: Conditions) -> bool:
    """Does the region hold the opposite of one of the conditions?"""
    return any(
        held in negations(condition) or condition in negations(held)
        for condition in guard
        for held in region
    )
