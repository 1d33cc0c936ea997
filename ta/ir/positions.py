"""Iterators as values: reads of the tensor of all integers.

    INDEX[r]  =  r          for every row r:   exp(-(i - j)^2)  is  exp(-INDEX[i-j]^2)

It is a read like any other, so that every walk, rule and comparison has its case, but no input:
nobody gives it, and `is_input` says so.  Where a stage is computed, a tensor of the integers that
its rows reach takes its place (`positions_over`).
"""

from __future__ import annotations

from math import gcd
from typing import Final

from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.interning import make_positions
from einderive.ta.ir.node import Access, Node, Source, Tensor

END: Final = 1 << 62
INDEX: Final = make_positions("#", Range(-END, END))
MOST: Final = 1 << 31
"""Rows with greater coefficients are not merged, so that sums of them fit 64 bits."""


def positions_over(bound: Range) -> Tensor:
    """The integers of the range, each at itself."""
    return make_positions(f"#{bound.lo}:{bound.hi}", bound)


def is_input(source: Source) -> bool:
    """Whether it is a tensor that somebody gives."""
    return isinstance(source, Tensor) and not source.name.startswith("#")


def is_position(node: Node) -> bool:
    """Whether the term is an iterator, or a row of these, as a value."""
    return isinstance(node, Access) and node.source is INDEX


def is_small(row: Row) -> bool:
    """Whether rows of such coefficients may be added."""
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
