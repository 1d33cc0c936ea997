"""Expressions that are 0 because reads miss their sources.

    A[i]*B[j]        is 0 for i beyond A, whatever number B[j] is

0 times a quotient by 0 is not 0.  So callers ask `divides` first, and `infinite` for infinities.
"""

from __future__ import annotations

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Add, Const, Mul, Node, Power, Scope, Select
from einderive.ta.ir.subst import fold, stages, walk


def divides(scope: Scope) -> bool:
    """Whether the scope, or one that it reads, divides."""
    parts = (part for stage in stages(scope) for part in walk(stage.body))
    return any(isinstance(part, Power) and part.exponent < 0 for part in parts)


def is_zero(node: Node, i: int, values: Range) -> bool:
    """Whether the expression, which has no division, is shown to be 0 if its iterator i has one of
    these values, for all values of the other iterators."""

    def zero(node: Node, parts: tuple[bool, ...]) -> bool:
        match node:
            case Const():
                return node.value == 0
            case Mul():
                return any(parts)
            case Add() | Power() | Select():
                return all(parts)
            case Access():
                sides = zip(node.rows, node.source.ranges, strict=True)
                return node.fill == 0 and any(_misses(row, side, i, values) for row, side in sides)
        return False

    return fold(node, zero)


def _misses(row: Row, side: Range, i: int, values: Range) -> bool:
    """Whether the row depends on i alone and is outside of the range for all of these values."""
    if affine.iterators(row) != {i}:
        return False
    low, high = affine.bounds(row, {i: values})
    return high < side.lo or side.hi <= low
