"""Assumptions about a tensor's elements: chains of comparisons as bounds, and their conjunction.

0 <= A < 1      least 0, greatest 1, which it lies below
A > 0, A != 3   refused: only 0 may be left out
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from einderive.ta.ir.node import ANY, Bounds, Number

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def bounds_of(operands: Sequence[str | Number], operators: Sequence[str]) -> tuple[str, Bounds]:
    """The tensor in a chain of comparisons with numbers, and its bounds.  ValueError for other
    chains."""
    names = [operand for operand in operands if isinstance(operand, str)]
    if len(names) != 1:
        raise ValueError("an assumption must compare one tensor with numbers")
    found = ANY
    for (left, right), operator in zip(pairwise(operands), operators, strict=True):
        if isinstance(left, str) and not isinstance(right, str):
            found = both(found, _compared(operator, right))
        elif isinstance(right, str) and not isinstance(left, str):
            found = both(found, _compared(_MIRRORED[operator], left))
        else:
            raise ValueError("the tensor must stand in each comparison of an assumption")
    return names[0], found


def _compared(operator: str, number: Number) -> Bounds:
    """The numbers x with `x operator number`."""
    match operator:
        case ">" | ">=":
            return Bounds(least=number, above=operator == ">")
        case "<" | "<=":
            return Bounds(greatest=number, below=operator == "<")
        case "==":
            return Bounds(least=number, greatest=number)
    if number != 0:
        raise ValueError("of single numbers, an assumption leaves out 0 only")
    return Bounds(nonzero=True)


def both(one: Bounds, other: Bounds) -> Bounds:
    """The bounds under which both hold.  ValueError if no number satisfies them."""
    least, greatest = max(one.least, other.least), min(one.greatest, other.greatest)
    above = any(each.above for each in (one, other) if each.least == least)
    below = any(each.below for each in (one, other) if each.greatest == greatest)
    nonzero = one.nonzero or other.nonzero
    above |= nonzero and least == 0  # an end that is left out is an open one
    below |= nonzero and greatest == 0
    nonzero = nonzero and least < 0 < greatest
    if least > greatest or (least == greatest and (above or below)):
        raise ValueError("no number satisfies the assumptions together")
    return Bounds(least, greatest, above, below, nonzero)
