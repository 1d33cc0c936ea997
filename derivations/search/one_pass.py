"""A mean and the squares of deviations from it, in one pass over the data.

    M = S[i] f(i)/n;  V = S[i] (f(i)-M)^2

Both are summed in parts about a provisional mean of each (`steps.provisional_mean`).  An iterator
that is the sum's only one, or too long for a part, is split first.  The steps of both pay only
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

from einderive.derivations.proposing import split_iterator
from einderive.derivations.rules.provisional_mean import (
    PROVISIONAL_MEAN,
    about,
    last_iterators,
    part_of,
    sums_of_data,
)
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step, Witness
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.element import floating_inputs
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import accesses

LEAST_PARTS: Final = 4
LEAST_TERMS: Final = 16
"""Fewer parts, or shorter ones, cost as much as they save."""
WITHIN: Final = 4
"""A divisor of the extent is taken that differs at most so many times from the wanted one."""


def one_pass(scopes: Sequence[Scope]) -> Iterator[tuple[Step, ...]]:
    """A group of steps for all sums of squares of deviations, and for the means."""
    found: dict[Scope, tuple[Step, ...]] = {}
    for scope in scopes:
        sums = sums_of_data(scope)
        if sums and floating_inputs(scope):
            try:
                new = {each: _summed_in_parts(each) for each in (scope, *sums)}
            except RuleRefused:
                continue
            if all(new.values()):
                found |= new
    if found:
        yield tuple(step for steps in found.values() for step in steps)


def _summed_in_parts(scope: Scope) -> tuple[Step, ...]:
    """The steps; none where the iterators have no parts of a fitting length."""
    total, first = prod(side.extent for side in scope.sums), len(scope.loops)
    last = scope.sums[-1].extent
    wanted = part_of(total)
    if last <= WITHIN * wanted and (inner := last_iterators(scope, LEAST_PARTS, LEAST_TERMS)):
        return (_step(PROVISIONAL_MEAN.name, scope, about(scope, inner)),)
    factor = min(_divisors(last), key=lambda d: abs(d - wanted), default=0)
    if not wanted <= WITHIN * factor:
        return ()
    split = _step(
        "split-iterator", scope, split_iterator(scope, first + len(scope.sums) - 1, factor)
    )
    return split, _step(
        PROVISIONAL_MEAN.name, split.after, about(split.after, (_within(split.after, factor),))
    )


def _within(scope: Scope, factor: int) -> int:
    """The place among the reduction iterators of the one that runs within a part: of those that
    have its extent, the one by which the fewest elements are skipped."""
    first = len(scope.loops)
    rows = [row for read in accesses(scope.body) for row in read.rows]

    def step(place: int) -> int:
        found = (abs(row.coefficient(first + place)) for row in rows)
        return min(filter(None, found), default=0)

    return min((p for p, side in enumerate(scope.sums) if side.extent == factor), key=step)


def _divisors(extent: int) -> Iterator[int]:
    """Those that leave enough parts of enough terms."""
    return (d for d in range(LEAST_TERMS, extent // LEAST_PARTS + 1) if extent % d == 0)


def _step(rule: str, scope: Scope, witness: Witness) -> Step:
    return Step(rule, scope, kernel.apply(scope, witness, exact=False), witness)
