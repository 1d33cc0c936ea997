"""A mean and the squares of deviations from it, in one pass over the data.

    M = S[i] f(i)/n;  V = S[i] (f(i)-M)^2

Both are summed in parts about a provisional mean of each (`steps.provisional_mean`).  An iterator
that is the sum's only one, or too long for a part, is split first.  The steps of both pay only
together.  Nothing here has to be trusted, since the kernel verifies every witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt, prod
from typing import Final

from einderive.derivations.proposing import split_iterator
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step, Witness
from einderive.derivations.steps.provisional_mean import Parts, ProvisionalMean
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine
from einderive.ta.ir.element import input_types
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import accesses, stages

SPLIT: Final = "split-iterator"
SUMMED: Final = "provisional-mean"
"""The rules of the steps."""
LONG: Final = frozenset({"float32", "float64"})
MOST_TERMS: Final = 1 << 16
"""Of a part."""
LEAST_PARTS: Final = 4
LEAST_TERMS: Final = 16
"""Fewer parts, or shorter ones, cost as much as they save."""
WITHIN: Final = 4
"""A part has at most so many times the terms that are wanted, and at least the same share."""


def one_pass(scopes: Sequence[Scope]) -> Iterator[tuple[Step, ...]]:
    """A group of steps for all sums of squares of deviations, and for the means."""
    found: dict[Scope, tuple[Step, ...]] = {}
    for scope in scopes:
        sums = _sums_of_data(scope)
        if sums and holds_sums(scope):
            try:
                new = {each: _summed_in_parts(each) for each in (scope, *sums)}
            except RuleRefused:
                continue
            found |= new
    group = tuple(step for steps in found.values() for step in steps)
    if group:
        yield group


def holds_sums(scope: Scope) -> bool:
    """Whether the sums of a part, which are stages, have a type that holds them: those of squares
    in float16 end at 65504, and the results of half types have few digits."""
    return {*input_types(scope)} <= LONG


def about(scope: Scope, inner: tuple[int, ...]) -> ProvisionalMean:
    """The witness with as many terms for the mean as the square root of those of a part."""
    extents = [scope.sums[s].extent for s in inner]
    return ProvisionalMean(inner, min(isqrt(prod(extents) - 1) + 1, extents[-1]))


def last_iterators(scope: Scope, parts: int = 2, terms: int = 2) -> tuple[int, ...]:
    """The last reduction iterators whose values are nearest in number to `_wanted` of all terms,
    if there are so many `parts` of so many `terms`."""
    extents = [side.extent for side in scope.sums]
    total = prod(extents)
    found = [
        (abs(prod(extents[k:]) - _wanted(total)), k)
        for k in range(len(extents))
        if prod(extents[k:]) >= terms and total >= parts * prod(extents[k:])
    ]
    return tuple(range(min(found)[1], len(extents))) if found else ()


def parts_of(scope: Scope) -> Parts | None:
    """What the scope sums; None where it is no such sum."""
    try:
        return ProvisionalMean(tuple(range(len(scope.sums))), 1).parts(scope)
    except RuleRefused:
        return None


def _sums_of_data(scope: Scope) -> tuple[Scope, ...]:
    """The sums that the centre of squares is computed from, where they add the same data over the
    same iterators."""
    found = parts_of(scope)
    if found is None or found.centre is None:
        return ()
    rows = affine.iterator_rows(len(scope.loops))
    return tuple(
        below
        for read in accesses(found.centre)
        if read.rows == rows and isinstance(read.source, Scope)
        for below in stages(read.source)
        if (below.loops, below.sums) == (scope.loops, scope.sums) and _adds(below, found.data)
    )


def _adds(scope: Scope, data: Node) -> bool:
    """Whether the scope sums multiples of the data."""
    found = parts_of(scope)
    return found is not None and found.centre is None and found.data is data


def _wanted(total: int) -> int:
    """About so many of this many terms are a part: sums over parts and over their results are then
    both short."""
    return min(4 * isqrt(total), MOST_TERMS)


def _summed_in_parts(scope: Scope) -> tuple[Step, ...]:
    """The steps; none where the iterators have no parts of a fitting length."""
    total, last = prod(side.extent for side in scope.sums), scope.sums[-1].extent
    wanted = _wanted(total)
    if last <= WITHIN * wanted and (inner := last_iterators(scope, LEAST_PARTS, LEAST_TERMS)):
        return (_step(SUMMED, scope, about(scope, inner)),)
    factor = _divisor(last, wanted)
    if not factor:
        return ()
    split = _step(SPLIT, scope, split_iterator(scope, len(scope.domain) - 1, factor))
    inner = (_within(split.after, factor),)
    return split, _step(SUMMED, split.after, about(split.after, inner))


def _within(scope: Scope, factor: int) -> int:
    """The place among the reduction iterators of the one that runs within a part: of those that
    have its extent, the one by which the fewest elements are skipped."""
    first = len(scope.loops)
    rows = [row for read in accesses(scope.body) for row in read.rows]

    def step(place: int) -> int:
        return sum(abs(row.coefficient(first + place)) for row in rows)

    places = [p for p, side in enumerate(scope.sums) if side.extent == factor]
    if not places:
        raise RuleRefused("all terms of a part are the same")
    return min(places, key=step)


def _divisor(extent: int, wanted: int) -> int:
    """The divisor nearest to the wanted one that leaves enough parts of enough terms; 0 where there
    is none."""
    least = max(LEAST_TERMS, wanted // WITHIN)
    most = min(extent // LEAST_PARTS, WITHIN * wanted)
    fitting = (divisor for divisor in range(least, most + 1) if not extent % divisor)
    return min(fitting, key=lambda divisor: abs(divisor - wanted), default=0)


def _step(rule: str, scope: Scope, witness: Witness) -> Step:
    return Step(rule, scope, kernel.apply(scope, witness, exact=False), witness)
