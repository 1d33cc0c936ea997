"""Provisional mean.   S[s,t] (f(s,t)-m)^2  =  S[s] (D2(s) + 2*(c(s)-m)*D1(s) + n*(c(s)-m)^2).

The mean m comes from the same D1, so that one pass over f is enough (`search.one_pass`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt, prod

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.provisional_mean import Parts, ProvisionalMean
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine
from einderive.ta.ir.element import floating_inputs
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import accesses, stages


def propose(scope: Scope) -> Iterator[Witness]:
    """The last reduction iterators, where squares of deviations from something computed are
    summed."""
    inner = last_iterators(scope)
    found = _parts(scope) if inner else None
    if found is None or found.centre is None or not floating_inputs(scope):
        return
    if any(isinstance(read.source, Scope) for read in accesses(found.centre)):
        yield about(scope, inner)


def about(scope: Scope, inner: tuple[int, ...]) -> ProvisionalMean:
    """The witness with as many terms for the mean as the square root of those of a part."""
    extents = [scope.sums[s].extent for s in inner]
    return ProvisionalMean(inner, min(isqrt(prod(extents) - 1) + 1, extents[-1]))


def last_iterators(scope: Scope, parts: int = 2, terms: int = 2) -> tuple[int, ...]:
    """The last reduction iterators whose values are nearest in number to `part_of` all terms, if
    there are so many `parts` of so many `terms`."""
    extents = [side.extent for side in scope.sums]
    total = prod(extents)
    found = [
        (abs(prod(extents[k:]) - part_of(total)), k)
        for k in range(1, len(extents))
        if prod(extents[k:]) >= terms and total >= parts * prod(extents[k:])
    ]
    return tuple(range(min(found)[1], len(extents))) if found else ()


def part_of(total: int) -> int:
    """About so many of this many terms are a part: sums over parts and over their results are then
    both short."""
    return 4 * isqrt(total)


def sums_of_data(scope: Scope) -> tuple[Scope, ...]:
    """The sums that the centre of squares is computed from, where they add the same data over the
    same iterators."""
    found = _parts(scope)
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
    found = _parts(scope)
    return found is not None and found.centre is None and found.data is data


def _parts(scope: Scope) -> Parts | None:
    """What is summed; None where it is no such sum."""
    try:
        return ProvisionalMean(tuple(range(len(scope.sums))), 1).parts(scope)
    except RuleRefused:
        return None


PROVISIONAL_MEAN = Rule(**stated(__name__), propose=propose)
