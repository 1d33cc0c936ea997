"""The limit on the integers of a formula: sizes, ranges and indices fit 64 bits with room.

Extents of tensors and ends of ranges lie below 2^62 in magnitude, and so does every index that a
read or a condition computes from them.  So no evaluation overflows.
"""

from __future__ import annotations

from collections.abc import Sequence

from einderive.ta.ir.affine import Range, Row

LIMIT = 1 << 62
SAID = "2^62"
MOST_FLOORS = 32
"""The greatest depth of `//` and `%` within each other that a record of a derivation may hold."""


def fits(*integers: int) -> bool:
    """Whether the integers lie within the limit."""
    return all(-LIMIT < integer < LIMIT for integer in integers)


def reach(row: Row, ranges: Sequence[Range]) -> int:
    """A bound on the magnitude of every partial sum in the evaluation of the row."""
    total = abs(row.const)
    for position, factor in row.terms:
        lo, hi = ranges[position]
        total += abs(factor) * max(abs(lo), abs(hi))
    for inner, divisor, factor in row.floors:
        inside = reach(inner, ranges)
        total += max(inside + divisor, abs(factor) * (inside // divisor + 1))
    return total


def floor_count(row: Row) -> int:
    """The number of `//` in the row, nested ones included."""
    return sum(1 + floor_count(inner) for inner, _, _ in row.floors)


def floor_depth(row: Row) -> int:
    """How deeply `//` and `%` are nested in the row."""
    return max((1 + floor_depth(inner) for inner, _, _ in row.floors), default=0)
