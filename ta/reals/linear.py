"""Whether linear inequalities over the rationals have a solution: Fourier's elimination.

    sum of c_v * v  >= 0   or   > 0

An answer "none" is exact.  Where there would be too many inequalities, the answer is "maybe".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

Variable: TypeAlias = Hashable
ONE: Variable = ()
"""The variable that is 1."""
MOST = 200


class Inequality(NamedTuple):
    coefficients: Mapping[Variable, Fraction]
    strict: bool


_Row: TypeAlias = tuple[dict[Variable, int], bool]
"""An inequality with whole coefficients other than 0, and whether it is strict."""


def solvable(inequalities: Iterable[Inequality]) -> bool:
    """False only where no real numbers satisfy all of them."""
    current = _distinct([*map(_whole, inequalities), ({ONE: 1}, True)])
    while True:
        if any(map(_false, current)):
            return False
        costs = _costs(current)
        if not costs:
            return True
        least = min(costs.values())
        if least > MOST:
            return True
        chosen = min((v for v, cost in costs.items() if cost == least), key=str)
        current = _distinct(_without(current, chosen))


def _whole(one: Inequality) -> _Row:
    """The inequality times a number, so that its coefficients are whole numbers."""
    by = lcm(*(c.denominator for c in one.coefficients.values()))
    return {v: int(c * by) for v, c in one.coefficients.items() if c}, one.strict


def _distinct(rows: Iterable[_Row]) -> list[_Row]:
    """Each row once, without common divisors; the strict one of two that are otherwise the same."""
    found: dict[frozenset[tuple[Variable, int]], _Row] = {}
    for row, strict in rows:
        common = gcd(*row.values())
        whole = {v: c // common for v, c in row.items()} if common > 1 else row
        key = frozenset(whole.items())
        if key not in found or strict:
            found[key] = whole, strict
    return list(found.values())


def _false(one: _Row) -> bool:
    row, strict = one
    if row.keys() - {ONE}:
        return False
    value = row.get(ONE, 0)
    return value < 0 or (strict and not value)


def _costs(current: Iterable[_Row]) -> dict[Variable, int]:
    """For each variable, how many inequalities follow when it is eliminated."""
    above: dict[Variable, int] = {}
    below: dict[Variable, int] = {}
    for row, _ in current:
        for v, c in row.items():
            side = above if c > 0 else below
            side[v] = side.get(v, 0) + 1
    return {v: above.get(v, 0) * below.get(v, 0) for v in {**above, **below} if v != ONE}


def _without(current: Iterable[_Row], variable: Variable) -> Iterator[_Row]:
    """The inequalities that follow for the others: each lower bound with each upper one."""
    above, below = list[_Row](), list[_Row]()
    for one in current:
        c = one[0].get(variable, 0)
        if c:
            (above if c > 0 else below).append(one)
        else:
            yield one
    for low, strict in above:
        for high, also in below:
            a, b = low[variable], -high[variable]
            found = {v: b * c for v, c in low.items()}
            for v, c in high.items():
                found[v] = found.get(v, 0) + a * c
            yield {v: c for v, c in found.items() if c}, strict or also
