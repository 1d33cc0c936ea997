"""Bounds on the numbers of a program: its degree, and the bits of its constants.

    degree(a*b) = degree(a) + degree(b)     degree(a^n) = |n|*degree(a)     degree(entry) = 1
    bits(a*b) = bits(a) + bits(b)           bits(a^n) = |n|*bits(a)         bits(c) = log2(c)

Both are computed across stages, so that a chain of powers is seen.  A sum has the greatest number
of its terms.  A sum of constants alone has the bits of the carry besides, since a sum may be a way
to write a greater constant.  Sums of quotients count as the greatest of their terms, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Number, Power, Scope
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import fold, stages

MOST_COUNTED: Final = 1e18
"""Counting stops at this number of bits."""


def greatest_degree(*roots: Scope) -> int:
    """The greatest degree among the roots."""
    known: dict[Scope, int] = {}
    for stage in stages(*roots):
        times = math.prod(r.extent for r in stage.sums) if stage.reducer == "prod" else 1
        known[stage] = times * fold(stage.body, partial(degree, known))
    return max([0, *(known[root] for root in roots)])


def degree(known: Mapping[Scope, int], node: Node, parts: tuple[int, ...]) -> int:
    """The degree of a term in the entries of the tensors, from the degrees of its operands and of
    the scopes that it reads.  A function has the degree of its operand, and a sum of quotients the
    greatest degree among its terms."""
    match node:
        case Access(source=Scope() as source):
            return known[source]
        case Access():
            return 1
        case Mul():
            return sum(parts)
        case Power():
            return abs(node.exponent) * parts[0]
    return max(parts, default=0)


class Bits(NamedTuple):
    """Bits of a term's constants, numerators and denominators together.  `fixed` says that no entry
    takes part."""

    most: float
    fixed: bool


def greatest_bits(*roots: Scope) -> float:
    """The greatest number of bits among the roots and the operands of functions."""
    known: dict[Scope, Bits] = {}
    operands = [0.0]
    for stage in stages(*roots):  # producers first
        known[stage] = _bits(stage, known, operands)
    return max(*operands, *(known[root].most for root in roots))


def _bits(scope: Scope, known: dict[Scope, Bits], operands: list[float]) -> Bits:
    """The bits of one scope, after those that it reads.  Bits of functions' operands are added to
    the list."""

    def of(node: Node, parts: tuple[Bits, ...]) -> Bits:
        match node:
            case Const(value=value):
                return Bits(_length(value), True)
            case Access(source=Scope() as source):
                return _most([known[source], Bits(_length(node.fill), True)])
            case Access() if is_position(node):
                ends = affine.bounds(node.rows[0], scope.domain)
                return Bits(max(_length(Fraction(end)) for end in ends), True)
            case Access():
                return Bits(_length(node.fill), False)
            case Apply() if FUNCTIONS[node.function].pieces is None:
                operands.extend(part.most for part in parts)
                return Bits(0, False)  # a number like any other
            case Power():
                most = abs(node.exponent) * parts[0].most
                return Bits(min(most, MOST_COUNTED), parts[0].fixed)
            case Mul():
                total = min(sum(part.most for part in parts), MOST_COUNTED)
                return Bits(total, all(part.fixed for part in parts))
        return _carried(_most(parts), len(parts) if isinstance(node, Add | Apply) else 1)

    points = math.prod(r.extent for r in scope.sums)
    body = fold(scope.body, of)
    if scope.reducer == "prod":
        return Bits(min(points * body.most, MOST_COUNTED), body.fixed)
    return _carried(body, points if scope.reducer == "sum" else 1)


def _most(found: Sequence[Bits]) -> Bits:
    return Bits(max([0.0, *(part.most for part in found)]), all(part.fixed for part in found))


def _carried(bits: Bits, terms: int) -> Bits:
    """The bits with those of the carry that a sum of this many constants adds."""
    return Bits(bits.most + _length(Fraction(terms)), True) if bits.fixed else bits


def _length(value: Number) -> int:
    """log2 of the numerator and of the denominator, rounded up."""
    if isinstance(value, float) or not value:
        return 0
    return (abs(value.numerator) - 1).bit_length() + (value.denominator - 1).bit_length()
