"""Differences within a sum: terms that are nearly equal are subtracted before others are added.

    a - b + 2*c - 2*d + e - f     =     (a - b) + 2*(c - d) + (e - f)

A sum keeps no brackets.  Added up term by term it is rounded at the size of its terms: with a mean
of 1000, the sum on the left loses three digits of a gradient, and the one on the right none.
"""

from __future__ import annotations

from einderive.ta.ir.expr import const, mul, split_coefficient
from einderive.ta.ir.interning import make_add, make_mul
from einderive.ta.ir.node import Access, Add, Node, Number

FEW = 3
"""A sum of fewer terms is one difference at most."""


def bracketed(node: Add) -> Add:
    """The sum with a term c*(x - y) for each c*x and -c*y, where x and y are reads of one tensor:
    what their elements have in common cancels.

    For evaluation alone: the constructors of sums and products take such brackets away."""
    left = [split_coefficient(term) for term in node.terms]
    if len(left) < FEW:
        return node
    found: list[Node] = []
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


def _opposed(term: tuple[Number, Node], other: tuple[Number, Node]) -> bool:
    (c, x), (d, y) = term, other
    return c == -d and isinstance(x, Access) and isinstance(y, Access) and x.source is y.source
