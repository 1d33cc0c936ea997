"""A body multiplied out.

    a*(b + c)  =  a*b + a*c        (a + b)^2  =  a^2 + 2*a*b + b^2

Source: the ring axioms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product as cartesian
from itertools import repeat

from einderive.derivations.effects.nonfinite import surely_finite
from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.effects.uncentred import multiplied, raw_difference
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Add, Mul, Node, Power, Scope
from einderive.ta.ir.subst import terms_of

MOST_TERMS = 64
"""Expanding beyond this many terms is refused."""


@dataclass(frozen=True, slots=True)
class Expand(Witness):
    """Multiplies out products of sums and powers of sums."""

    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The body as a sum of products.  Infinite numbers are refused: inf*(a + b) has a value
        where inf*a + inf*b has none."""
        if may_be_infinite(scope.body):
            raise RuleRefused("an infinite number takes part")
        terms = [expr.mul(*choice) for choice in _choices(scope.body)]
        body = expr.add(*terms)
        if body is scope.body:
            raise RuleRefused("the body has nothing to multiply out")
        return make_scope(scope.loops, scope.sums, body, scope.reducer)

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        body = expr.add(*(expr.mul(*choice) for choice in _choices(scope.body)))
        count = len(terms_of(body))
        return (("terms", f"{count} of at most {MOST_TERMS}"), ("infinite numbers", "none"))

    def told(self, scope: Scope, names: Names) -> str:
        return "products and powers of sums are multiplied out"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return "cancels"

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return surely_finite(before.body)

    def multiplies_uncentred(self, before: Scope) -> bool:
        return any(map(raw_difference, multiplied(before.body)))


def _choices(body: Node) -> list[tuple[Node, ...]]:
    """The products whose sum is the body, each as a tuple of factors."""
    if isinstance(body, Add):
        found = [choice for term in body.terms for choice in _choices(term)]
    elif isinstance(body, Mul):
        parts = [_choices(factor) for factor in body.factors]
        _bound(parts)
        found = [sum(choice, ()) for choice in cartesian(*parts)]
    elif isinstance(body, Power) and body.exponent > 1 and isinstance(body.base, Add):
        base = _choices(body.base)
        _bound(repeat(base, body.exponent))
        found = [sum(choice, ()) for choice in cartesian(base, repeat=body.exponent)]
    else:
        found = [(body,)]
    return found


def _bound(parts: Iterable[Sequence[object]]) -> None:
    """Refuses once the terms are too many; their number is not computed beyond that."""
    total = 1
    for part in parts:
        total *= len(part)
        if total > MOST_TERMS:
            raise RuleRefused(f"multiplying out would give more than {MOST_TERMS} terms")
