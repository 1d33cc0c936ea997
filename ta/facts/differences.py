"""Differences within a sum: terms that are nearly equal are subtracted before others are added.

    a - b + 2*c - 2*d + e - f        =     (a - b) + 2*(c - d) + (e - f)
    a - log(s) - max[k](a)           =     (a - max[k](a)) - log(s)

A sum keeps no brackets.  Added up term by term it is rounded at the size of its terms: with a mean
of 1000, the sum on the left loses three digits of a gradient, and the one on the right none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from einderive.ta.ir.expr import const, mul, split_coefficient
from einderive.ta.ir.interning import make_add, make_mul
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Number, Power, Scope

FEW = 3
"""A sum of fewer terms is one difference at most."""
MIDDLES = ("max", "min", "sum")
"""Reducers whose values lie among those that they reduce; a sum, divided by their number."""


Term: TypeAlias = tuple[Number, Node]
"""A coefficient, and what it multiplies."""


def bracketed(node: Add) -> Add:
    """The sum with a term c*(x - y) for each c*x and -c*y, where x and y are reads of one tensor,
    and with a term c*x - c*m where m is the maximum, minimum or mean of such x: what their elements
    have in common cancels.

    For evaluation alone: the constructors of sums and products take such brackets away."""
    left = [split_coefficient(term) for term in node.terms]
    if len(left) < FEW:
        return node
    found: list[Node] = []
    for term in list(left):
        terms = _less_middle(term, left) if term in left else []
        if terms and len(terms) < len(node.terms):
            left = [other for other in left if other not in terms]
            found.append(make_add(tuple(mul(const(c), x) for c, x in terms)))
    while left:
        (c, x) = left.pop(0)
        place = next((k for k, other in enumerate(left) if _opposed((c, x), other)), None)
        if place is None:
            found.append(mul(const(c), x))
            continue
        _, y = left.pop(place)
        if c < 0:
            c, x, y = -c, y, x
        difference = make_add((x, mul(const(-1), y)))
        found.append(difference if c == 1 else make_mul((const(c), difference)))
    return make_add(tuple(found))


def _opposed(term: Term, other: Term) -> bool:
    (c, x), (d, y) = term, other
    return c == -d and isinstance(x, Access) and isinstance(y, Access) and x.source is y.source


def _less_middle(term: Term, terms: Sequence[Term]) -> list[Term]:
    """The terms that are less this one a difference from their middle: this one, the last, is their
    maximum, minimum or mean over some iterators, with the opposite sign.  Empty if there are none.
    """
    c, read = term
    scope = read.source if isinstance(read, Access) else None
    if not isinstance(scope, Scope) or not scope.sums or scope.reducer not in MIDDLES:
        return []
    times = -c * prod(side.extent for side in scope.sums) if scope.reducer == "sum" else -c
    body = scope.body.terms if isinstance(scope.body, Add) else (scope.body,)
    found: list[Term] = []
    for d, wanted in map(split_coefficient, body):
        for e, x in terms:
            if e == times * d and (e, x) not in found and _is_alike(x, wanted):
                found.append((e, x))
                break
        else:
            return []
    return [*found, term]


def _is_alike(x: Node, y: Node) -> bool:
    """Whether both are one expression of elements of the same tensors, perhaps of other ones."""
    match x, y:
        case Access(), Access():
            return x.source is y.source
        case Const(), Const():
            return x is y
        case Apply(), Apply():
            return x.function == y.function and _are_alike(x.args, y.args)
        case Power(), Power():
            return x.exponent == y.exponent and _is_alike(x.base, y.base)
        case Mul(), Mul():
            return _are_alike(x.factors, y.factors)
        case Add(), Add():
            return _are_alike(x.terms, y.terms)
    return False


def _are_alike(left: Sequence[Node], right: Sequence[Node]) -> bool:
    return len(left) == len(right) and all(map(_is_alike, left, right))
