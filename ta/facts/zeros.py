"""Places where a body is zero because one of its factors reads outside of its source.

vanishes_outside(f, X, [(r_1, R_1), ...]):   for all x in X with some r_j(x) not in R_j: f(x) = 0

A factor 0 makes a product 0 only beside numbers: 0*(1/0), 0*log(0) and 0*inf are NaN.  So the other
factors have to be finite over the box (`ta.facts.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from einderive.ta.facts import integer_sets as domain
from einderive.ta.facts.kinds import finite_everywhere, finite_over
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Add, Apply, Condition, Const, Mul, Node, Power, Select
from einderive.ta.ir.subst import branches

Read = tuple[Row, Range]
UNBOUNDED = 1 << 62
"""The value of a range's end that means "no upper limit".  Rows of scopes with 64-bit extents stay
far below it."""


Box = tuple[Range, ...]
Held = tuple[Condition, ...]


@lru_cache(maxsize=4096)
def zero_reads(body: Node, box: Box | None = None, held: Held = ()) -> tuple[Read, ...]:
    """Pairs (row, range) such that the body is 0 wherever in the box one of the rows leaves its
    range, as far as the conditions `held` hold.  Without a box, this needs all factors to be
    finite."""
    if isinstance(body, Access):
        return tuple(zip(body.rows, body.source.ranges, strict=True)) if body.fill == 0 else ()
    if isinstance(body, Mul):
        factors = body.factors if box is None else _beside_numbers(body.factors, box, held)
        return tuple(read for factor in factors for read in zero_reads(factor, box, held))
    if isinstance(body, Power) and body.exponent > 0:
        return zero_reads(body.base, box, held)
    if isinstance(body, Apply) and len(body.args) == 1 and FUNCTIONS[body.function].at_zero == 0:
        return zero_reads(body.args[0], box, held)
    if isinstance(body, Add):
        return _common([zero_reads(term, box, held) for term in body.terms])
    if isinstance(body, Select):
        then = zero_reads(body.then, box, (*held, *body.conditions))
        if isinstance(body.otherwise, Const) and body.otherwise.value == 0:
            return (*map(_holding, body.conditions), *then)
        return _common([then, zero_reads(body.otherwise, box, held)])
    if chosen := branches(body):
        return _common([zero_reads(value, box, held) for value in chosen])
    return ()


def _beside_numbers(factors: Sequence[Node], box: Box, held: Held) -> Sequence[Node]:
    """The factors that stand beside finite ones only."""
    doubtful = [factor for factor in factors if not finite_over(factor, box, held)]
    return factors if not doubtful else doubtful if len(doubtful) == 1 else ()


def _holding(condition: Condition) -> Read:
    """The condition as a row that has to stay in a range."""
    return condition.row, Range(0, 1) if condition.relation == "==" else Range(0, UNBOUNDED)


def _common(parts: Sequence[tuple[Read, ...]]) -> tuple[Read, ...]:
    return tuple(read for read in parts[0] if all(read in part for part in parts[1:]))


def vanishes_outside(
    body: Node, box: Sequence[Range], inside: Sequence[Read], exact: bool = True
) -> bool:
    """Whether the body is zero at every point of the box where a row of `inside` leaves its range.

    Intervals decide the common case, in which one half-space `row >= hi` or `row < lo` at a time
    puts one read wholly outside; what they cannot decide is left to exact reasoning, or, where
    `exact` is off (in the search), taken for a no.
    """
    reads = zero_reads(body)
    if reads and not finite_everywhere(body):
        reads = zero_reads(body, tuple(box))
    undecided = [
        excess
        for excess in _excesses(inside, box)
        if not any(_misses(read, excess, box) for read in reads)
    ]
    if not undecided:
        return True
    return exact and domain.reads_miss(reads, inside, tuple(box))


def _excesses(inside: Sequence[Read], box: Sequence[Range]) -> Iterator[Row]:
    """Rows e such that some `inside` row is out of range exactly where some e(x) >= 0."""
    for row, bound in inside:
        low, high = affine.bounds(row, box)
        if high >= bound.hi:
            yield affine.shift(row, -bound.hi)
        if low < bound.lo:
            yield affine.shift(affine.scale(row, -1), bound.lo - 1)


def _misses(read: Read, excess: Row, box: Sequence[Range]) -> bool:
    """Whether `excess(x) >= 0` puts the read outside: row - c*excess >= hi for a constant c > 0, or
    the mirror image below lo.  c is the ratio of the coefficients of a shared iterator."""
    row, bound = read
    for i, a in excess.terms:
        b = row.coefficient(i)
        if not b or b % a:
            continue
        ratio = b // a
        low, high = affine.bounds(affine.add(row, excess, -ratio), box)
        if ratio > 0 and low >= bound.hi:
            return True
        if ratio < 0 and high < bound.lo:
            return True
    return False
