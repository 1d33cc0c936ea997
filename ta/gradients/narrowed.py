"""Sums over the places that count.

    sum[i](where(i == 0, f(i), 0))              f(0)
    sum[i](where(i == 0, 0, f(i)))              sum[i](f(i)) where i in 1:n
    where(k == 0, f(k), 0) where k in 0:1       f(k)

These arise where tensors are put beside each other along a new dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from einderive.ta.facts.zeros import zero_reads
from einderive.ta.gradients.products import ZERO
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import TRUE, resolve
from einderive.ta.ir.node import Access, Condition, Node, Select
from einderive.ta.ir.subst import rebuild, substitute, walk

MOST_PLACES: Final = 16
"""At each end of a range, at most this many places are tried."""


def narrowed(loops: Sequence[Range], sums: Sequence[Range], body: Node) -> tuple[list[Range], Node]:
    """The ranges of a sum without those at their ends where the body is 0, and the body in which
    conditions that always hold are left out."""
    found = [*sums]
    empty = not all(side.extent for side in (*loops, *sums))
    if empty or not any(isinstance(node, Select) for node in walk(body)):
        return found, body
    for place in range(len(loops), len(loops) + len(sums)):
        low, high = _read_within(body, [*loops, *found], place)
        for _ in range(MOST_PLACES):
            if low < high and _is_zero(body, [*loops, *found], place, low):
                low += 1
        for _ in range(MOST_PLACES):
            if low < high and _is_zero(body, [*loops, *found], place, high - 1):
                high -= 1
        if low == high:
            return [], ZERO
        found[place - len(loops)] = Range(low, high)
    return found, _decided(body, [*loops, *found])


def _read_within(body: Node, ranges: Sequence[Range], place: int) -> Range:
    """The iterator's range, as far as rows of this iterator alone say where the body is not 0."""
    low, high = ranges[place]
    for row, bound in zero_reads(body, tuple(ranges)):
        if row.floors or len(row.terms) != 1 or row.terms[0][0] != place:
            continue
        a = row.terms[0][1]
        first, last = bound.lo - row.const, bound.hi - 1 - row.const
        if a < 0:
            first, last = last, first
        # first <= a*i <= last, and the other way round for a negative a
        low, high = max(low, -(-first // a)), min(high, last // a + 1)
    return Range(low, max(low, high))


def _is_zero(body: Node, ranges: Sequence[Range], place: int, value: int) -> bool:
    """Whether the body is 0 where the iterator has this value."""
    rows = {i: affine.iterator(i) for i in range(len(ranges))}
    rows[place] = affine.constant(value)
    return resolve(substitute(body, rows), ranges) is ZERO


def _decided(body: Node, ranges: Sequence[Range]) -> Node:
    """The body in which conditions that hold throughout the ranges are left out."""

    def on_condition(condition: Condition) -> Condition:
        always = affine.bounds(condition.row, ranges) == (0, 0)
        return TRUE if always and condition.relation == "==" else condition

    def on_access(access: Access) -> Node:
        return access

    return rebuild(body, on_access, on_condition)
