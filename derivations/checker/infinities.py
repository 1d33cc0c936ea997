"""Terms that may be infinite, and the products with them that may be multiplied out.

    A{fill=inf}[i-1], max[k] where(k < i, A[k], -inf), max[k:0:0] A[k]      may be infinite
    A[i], exp(A{fill=inf}[i-1])                                             count as finite

inf*(a + b) has a value where inf*a + inf*b has none.  So a term that may be infinite is multiplied
by single terms only, or by terms of which no two hold together.  Nor does it cancel: inf - inf is
not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from einderive.derivations.checker.axioms import OPERAND
from einderive.derivations.checker.formal import NotShown, Sum, Term, negations
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.node import Condition

Conditions = tuple[Condition, ...]

CHOICE = {"choose", *(OPERAND.format("choose", place) for place in range(3))}
KEEPING = frozenset(
    {*(f.name for f in FUNCTIONS.values() if f.compares), *REDUCERS, *CHOICE, "value", "^-1"}
)
"""Functions whose values are infinite or missing only if an operand is; 1/0 counts as such too.
The values of all other functions count as finite, except for NaN operands."""
VALUELESS = frozenset(f.name for f in FUNCTIONS.values() if f.constant != f.constant)


def unbounded(name: str, operand: Sum) -> bool:
    """Whether `name(operand)` may be infinite or have no value."""
    nothing = name in VALUELESS or (name == "^-1" and not operand)
    return nothing or (name in KEEPING and any(term.unbounded for term in operand))


def require_single(factors: Sequence[Sum], guard: Callable[[Term], Conditions]) -> None:
    """Raises NotShown if an unbounded term of one factor is multiplied by a factor that may be a
    sum of several terms.  `guard` gives the conditions under which a term stands in its sum."""
    for place, factor in enumerate(factors):
        for term in factor:
            if term.unbounded:
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
        raise NotShown("what may be infinite is multiplied by a sum")


def excludes(region: frozenset[Condition], guard: Conditions) -> bool:
    """Whether the region holds the opposite of one of the conditions."""
    return any(
        held in negations(condition) or condition in negations(held)
        for condition in guard
        for held in region
    )
