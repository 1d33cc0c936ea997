"""Whether linear inequalities over the rationals have a solution: Fourier's elimination.

    sum of c_v * v  >= 0   or   > 0

An answer "none" is exact.  Where there would be too many inequalities, the answer is "maybe".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias

Variable: TypeAlias = Hashable
ONE: Variable = ()
"""The variable that is 1."""
MOST = 200


class Inequality(NamedTuple):
    coefficients: Mapping[Variable, Fraction]
    strict: bool


def solvable(inequalities: Iterable[Inequality]) -> bool:
    """False only where no real numbers satisfy all of them."""
    current = [*inequalities, Inequality({ONE: Fraction(1)}, True)]
    while True:
        variables = {v for c, _ in current for v in c if v != ONE}
        if any(_false(one) for one in current):
            return False
        if not variables:
            return True
        chosen = min(variables, key=lambda v: (_cost(current, v), str(v)))
        if _cost(current, chosen) > MOST:
            return True
        current = _without(current, chosen)


def _false(one: Inequality) -> bool:
    if any(v != ONE for v in one.coefficients):
        return False
    value = one.coefficients.get(ONE, Fraction(0))
    return value < 0 or (one.strict and not value)


def _cost(current: list[Inequality], variable: Variable) -> int:
    signs = [one.coefficients.get(variable, Fraction(0)) for one in current]
    return sum(s > 0 for s in signs) * sum(s < 0 for s in signs)


def _without(current: list[Inequality], variable: Variable) -> list[Inequality]:
    """The inequalities that follow for the others: each lower bound with each upper one."""
    above = [one for one in current if one.coefficients.get(variable, 0) > 0]
    below = [one for one in current if one.coefficients.get(variable, 0) < 0]
    kept = [one for one in current if not one.coefficients.get(variable, 0)]
    for low in above:
        for high in below:
            a, b = low.coefficients[variable], -high.coefficients[variable]
            found: dict[Variable, Fraction] = {}
            for one, factor in ((low, b), (high, a)):
                for v, c in one.coefficients.items():
                    found[v] = found.get(v, Fraction(0)) + factor * c
            kept.append(
                Inequality({v: c for v, c in found.items() if c}, low.strict or high.strict)
            )
    return kept
