"""Cotangents that are identically 0, as those of the maxima that a softmax subtracts.

exp(x - m)/sum(exp(x - m)) does not depend on m, so the cotangent of m is 0.  It is an expression
that random identity testing finds to be 0 (`ta.equality`).  There, functions that choose would be
opaque, so they are written as products:

    where(c, a, b) = c*a + (1 - c)*b
"""

from __future__ import annotations

from typing import Final

from einderive.ta.equality.compare import compare
from einderive.ta.equality.small_extents import reduce_extents
from einderive.ta.functions import FUNCTIONS
from einderive.ta.gradients.products import ZERO
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Apply, Node, Scope
from einderive.ta.ir.sources import rewritten
from einderive.ta.ir.subst import points_of, with_children

MOST_POINTS: Final = 1_000_000
"""Cotangents that visit more points than this, with reduced extents, are kept."""


def vanishes(scope: Scope) -> bool:
    """Whether the scope is shown to be 0 at every position."""
    small = reduce_extents([_with_products(scope)], [make(scope.loops, (), ZERO)])
    if points_of(*small.left) > MOST_POINTS:
        return False
    return compare(small.left, small.right).equal


def _with_products(root: Scope) -> Scope:
    """The scope in which products stand for choices by a value."""

    def step(node: Node, parts: tuple[Node, ...]) -> Node:
        if not isinstance(node, Apply) or not FUNCTIONS[node.function].picks:
            return with_children(node, parts)
        holds = expr.apply("not_equal", parts[0], ZERO)
        fails = expr.subtract(expr.const(1), holds)
        return expr.add(expr.mul(holds, parts[1]), expr.mul(fails, parts[2]))

    return rewritten([root], step)[0]
