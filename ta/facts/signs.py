"""Whether a term is positive, or at least not negative, over a box: from its form and from
promises.

    exp(a) > 0      a^2 >= 0      |a| >= 0      A[i] > 0 where `assume A > 0`, and A is read inside

This speaks of real numbers alone: nothing is claimed of a term that is NaN or has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf

from einderive.ta.facts.assumed import non_negative, positive
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Scope,
    Select,
    Tensor,
)
from einderive.ta.ir.subst import producers

UNKNOWN, NOT_NEGATIVE, POSITIVE = range(3)


def least_sign(node: Node, box: Sequence[Range]) -> int:
    """The strongest known statement about the term's sign that holds at every point of the box."""
    for stage in producers(node):
        _of_scope(stage)
    return _sign(node, tuple(box))


@lru_cache(maxsize=1 << 14)
def _sign(node: Node, box: tuple[Range, ...]) -> int:
    match node:
        case Const():
            return _of_number(node.value)
        case Access():
            return _of_read(node, box)
        case Add():
            signs = [_sign(term, box) for term in node.terms]
            return max(signs) if min(signs) else _of_least(_bounds(node, box)[0])
        case Mul():
            return min(_sign(factor, box) for factor in node.factors)
        case Power():
            base = _sign(node.base, box)
            if base == UNKNOWN and node.exponent % 2:
                return UNKNOWN
            return POSITIVE if base == POSITIVE else NOT_NEGATIVE
        case Select():
            return min(_sign(node.then, box), _sign(node.otherwise, box))
        case Apply():
            return _of_function(node.function, node.args, box)
    return UNKNOWN


def _of_least(least: Number) -> int:
    return POSITIVE if least > 0 else NOT_NEGATIVE if least == 0 else UNKNOWN


def _bounds(node: Node, box: tuple[Range, ...]) -> tuple[Number, Number]:
    """Numbers between which the term lies: 1 - A[i] >= 0 where `assume A <= 1`."""
    match node:
        case Const():
            return node.value, node.value
        case Access(source=Tensor() as tensor) if affine.within(node.rows, tensor.ranges, box):
            return tensor.bounds.least, tensor.bounds.greatest
        case Add():
            lows, highs = zip(*(_bounds(term, box) for term in node.terms), strict=True)
            return _total(lows, -inf), _total(highs, inf)
        case Mul():
            coefficient, rest = expr.split_coefficient(node)
            ends = [] if coefficient == 1 else [coefficient * end for end in _bounds(rest, box)]
            return (min(ends), max(ends)) if ends else (-inf, inf)
        case Apply(function=name) if (known := FUNCTIONS[name].range) is not None:
            return known[0], known[1]
    return -inf, inf


def _total(ends: Sequence[Number], unknown: float) -> Number:
    return unknown if unknown in ends else sum(ends)


def _of_number(value: Number) -> int:
    return POSITIVE if value > 0 else NOT_NEGATIVE if value == 0 else UNKNOWN


def _of_read(node: Access, box: tuple[Range, ...]) -> int:
    source = node.source
    if isinstance(source, Tensor):
        inside = POSITIVE if positive(source) else NOT_NEGATIVE if non_negative(source) else UNKNOWN
    else:
        inside = _of_scope(source)
    if affine.within(node.rows, source.ranges, box):
        return inside
    return min(inside, _of_number(node.fill))


@lru_cache(maxsize=1 << 12)
def _of_scope(scope: Scope) -> int:
    """The sign of all elements of the scope.  It follows for a sum, max, min or product of terms of
    this sign."""
    return UNKNOWN if scope.empty else _sign(scope.body, scope.domain)


def _of_function(name: str, args: Sequence[Node], box: tuple[Range, ...]) -> int:
    known = FUNCTIONS[name]
    signs = [_sign(arg, box) for arg in args]
    if name == "exp":
        return NOT_NEGATIVE if may_be_infinite(args[0]) else POSITIVE
    if name in ("maximum", "minimum"):
        return max(signs) if name == "maximum" else min(signs)
    if name in ("sqrt", "abs"):
        return max(signs[0], NOT_NEGATIVE)
    if name == "relu" or (known.range is not None and known.range[0] >= 0):
        return NOT_NEGATIVE
    return UNKNOWN
