"""Numbers between which a term lies over a box, from its form and from assumptions.

    exp(a) > 0      a^2 >= 0      |a| >= 0      A[i] > 0 where `assume A > 0`, and A is read inside
    1 - A[i] > 0 where `assume A < 1`

This speaks of real numbers alone: nothing is claimed of a term that is NaN or has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, reduce

from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.facts.intervals import (
    ABOVE_0,
    AT_LEAST_0,
    either,
    exactly,
    greater,
    is_nonzero,
    is_positive,
    lesser,
    magnitude,
    plus,
    scaled,
    times,
)
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import branches, producers

UNKNOWN, NOT_NEGATIVE, POSITIVE = range(3)
MOST_EXPONENT = 4
"""Of a greater power, the sign is known."""


def least_sign(node: ir.Node, box: Sequence[Range]) -> int:
    """The strongest known statement about the term's sign that holds at every point of the box."""
    found = bounds_over(node, box)
    return POSITIVE if is_positive(found) else NOT_NEGATIVE if found.least >= 0 else UNKNOWN


def not_zero(node: ir.Node, box: Sequence[Range]) -> bool:
    """Whether the term is other than 0 at every point of the box."""
    return is_nonzero(bounds_over(node, box))


def bounds_over(node: ir.Node, box: Sequence[Range]) -> ir.Bounds:
    """The known bounds of the term's values at the points of the box."""
    for stage in producers(node):
        _of_scope(stage)
    return _bounds(node, tuple(box))


@lru_cache(maxsize=1 << 14)
def _bounds(node: ir.Node, box: tuple[Range, ...]) -> ir.Bounds:
    if isinstance(node, ir.Const):
        return exactly(node.value)
    if isinstance(node, ir.Access):
        return _of_read(node, box)
    if chosen := branches(node):
        return either(*(_bounds(each, box) for each in chosen))
    if isinstance(node, ir.Add):
        return reduce(plus, [_bounds(term, box) for term in node.terms])
    if isinstance(node, ir.Mul):
        coefficient, rest = expr.split_coefficient(node)
        if isinstance(coefficient, Fraction) and coefficient != 1:
            return scaled(_bounds(rest, box), coefficient)
        return reduce(times, [_bounds(factor, box) for factor in node.factors])
    if isinstance(node, ir.Power):
        return _of_power(_bounds(node.base, box), node.exponent)
    if isinstance(node, ir.Apply):
        return _of_function(node.function, node.args, box)
    return ir.ANY


def _of_power(base: ir.Bounds, exponent: int) -> ir.Bounds:
    base = base if exponent % 2 else magnitude(base)
    if 0 < exponent <= MOST_EXPONENT:
        return reduce(times, [base] * exponent)
    return ABOVE_0 if is_positive(base) else AT_LEAST_0 if base.least >= 0 else ir.ANY


def _of_read(node: ir.Access, box: tuple[Range, ...]) -> ir.Bounds:
    if is_position(node):
        low, high = affine.bounds(node.rows[0], box)
        return ir.Bounds(Fraction(low), Fraction(high))
    source = node.source
    inside = source.bounds if isinstance(source, ir.Tensor) else _of_scope(source)
    if affine.within(node.rows, source.ranges, box):
        return inside
    return either(inside, exactly(node.fill))


@lru_cache(maxsize=1 << 12)
def _of_scope(scope: ir.Scope) -> ir.Bounds:
    """The bounds of all elements of the scope."""
    if scope.empty:
        return ir.ANY
    body = _bounds(scope.body, scope.domain)
    if not scope.sums or scope.reducer in ("max", "min"):
        return body
    if scope.reducer == "prod":
        return _of_power(body, MOST_EXPONENT + 1)
    terms = 1
    for side in scope.sums:
        terms *= side.extent
    return scaled(body, Fraction(terms))._replace(nonzero=False)


def _of_function(name: str, args: Sequence[ir.Node], box: tuple[Range, ...]) -> ir.Bounds:
    known = FUNCTIONS[name]
    if name == "exp":
        return AT_LEAST_0 if may_be_infinite(args[0]) else ABOVE_0
    if name in ("maximum", "minimum"):
        left, right = (_bounds(arg, box) for arg in args)
        return greater(left, right) if name == "maximum" else lesser(left, right)
    if name == "abs":
        return magnitude(_bounds(args[0], box))
    if name == "sqrt":
        return ABOVE_0 if is_positive(_bounds(args[0], box)) else AT_LEAST_0
    if name == "relu":
        return greater(_bounds(args[0], box), exactly(Fraction(0)))
    if known.range is not None:
        least, greatest = map(Fraction, known.range)
        return ir.Bounds(least, greatest)
    return ir.ANY
