"""Products whose masks stay outermost.

    where(c, a, 0)*b = where(c, a*b, 0)          (x > 0)*b = where(x > 0, b, 0)

So a term that a mask leaves out does not count, even if a factor of it is infinite, and gathers and
scatters keep the form in which they are recognised.
"""

from __future__ import annotations

from collections.abc import Iterable

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.node import Apply, Condition, Node, Select

ZERO = expr.const(0)


def times(left: Node, right: Node) -> Node:
    """The product of an adjoint and a derivative."""
    if left is ZERO or right is ZERO:
        return ZERO
    for mask, other in ((left, right), (right, left)):
        if isinstance(mask, Select) and ZERO in (mask.then, mask.otherwise):
            branches = times(mask.then, other), times(mask.otherwise, other)
            return expr.select(mask.conditions, *branches)
        if isinstance(mask, Apply) and FUNCTIONS[mask.function].truth:
            holds = mask.args[0]
            opposite = mask.function == "equal" and mask.args[1] is ZERO
            if opposite and isinstance(holds, Apply) and FUNCTIONS[holds.function].truth:
                return expr.apply("choose", holds, ZERO, other)
            return expr.apply("choose", mask, other, ZERO)
        if isinstance(mask, Apply) and _chooses(mask):
            condition, *chosen = mask.args
            return expr.apply("choose", condition, *(times(value, other) for value in chosen))
    return expr.mul(left, right)


def plus(*terms: Node) -> Node:
    """The sum: where(c, a, 0) + where(c, 0, b) = where(c, a, b)."""
    rest: list[Node] = []
    for term in terms:
        for place, other in enumerate(rest):
            joined = _joined(term, other)
            if joined is not None:
                rest[place] = joined
                break
        else:
            rest.append(term)
    return expr.add(*rest)


def _joined(left: Node, right: Node) -> Node | None:
    """The sum of two terms that one condition chooses between; None for others."""
    for one, two in ((left, right), (right, left)):
        if (
            isinstance(one, Select)
            and isinstance(two, Select)
            and one.otherwise is ZERO is two.then
        ):
            if one.conditions == two.conditions:
                return expr.select(one.conditions, one.then, two.otherwise)
            continue
        if isinstance(one, Apply) and isinstance(two, Apply) and _chooses(one) and _chooses(two):
            (c, a, zero), (d, nothing, b) = one.args, two.args
            if c is d and zero is ZERO is nothing:
                return expr.apply("choose", c, a, b)
    return None


def _chooses(node: Apply) -> bool:
    return FUNCTIONS[node.function].picks


def where(conditions: Iterable[Condition], term: Node) -> Node:
    """The term where all conditions hold, else 0.  Masks by values stay outside of it."""
    if isinstance(term, Apply) and _chooses(term) and term.args[2] is ZERO:
        condition, then, _ = term.args
        return expr.apply("choose", condition, where(conditions, then), ZERO)
    return expr.select(conditions, term, ZERO)
