"""Iterators as values: reads of a tensor that holds all integers.

    INDEX[r]  =  r          for every row r:   exp(-(i - j)^2)  is  exp(-INDEX[i-j]^2)

Every walk, rule and comparison treats it as a read like any other.  But it is no input: no caller
gives it, and `is_input` says so.  When a stage is computed, a tensor of the integers that its rows
reach takes its place (`positions_over`).
"""

from __future__ import annotations

from math import gcd
from typing import Final, TypeGuard

from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.interning import make_positions
from einderive.ta.ir.node import Access, Node, Source, Tensor

END: Final = 1 << 62
INDEX: Final = make_positions("#", Range(-END, END))
MOST: Final = 1 << 31
"""Rows with greater coefficients are not merged, so that their sums fit 64 bits."""


def positions_over(bound: Range) -> Tensor:
    """The tensor of the integers of the range."""
    return make_positions(f"#{bound.lo}:{bound.hi}", bound)


def is_input(source: Source) -> bool:
    """Whether the source is a tensor that a caller gives."""
    return isinstance(source, Tensor) and not source.name.startswith("#")


def is_position(node: Node) -> bool:
    """Whether the term is an index row as a value."""
    return isinstance(node, Access) and node.source is INDEX


def is_data(node: Node) -> TypeGuard[Access]:
    """Whether the term is a read of more than iterators."""
    return isinstance(node, Access) and not is_position(node)


def is_small(row: Row) -> bool:
    """Whether the row's coefficients are small enough for rows to be added."""
    factors = (row.const, *(a for _, a in row.terms), *(b for _, _, b in row.floors))
    return all(abs(factor) < MOST for factor in factors)


def content(row: Row) -> int:
    """The greatest integer of which the row is a multiple, with the sign of its first term."""
    factors = [*(a for _, a in row.terms), *(b for _, _, b in row.floors)]
    size = gcd(row.const, *factors)
    return -size if factors[0] < 0 else size


def divided(row: Row, divisor: int) -> Row:
    """The row divided by a divisor of its content."""
    return Row(
        row.const // divisor,
        tuple((i, a // divisor) for i, a in row.terms),
        tuple((inner, n, b // divisor) for inner, n, b in row.floors),
    )
