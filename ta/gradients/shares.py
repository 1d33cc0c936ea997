"""The share that each term of a reduction has in the derivative of its value.

sum[y] f(y)     1
prod[y] f(y)    prod[z](where(z != y, f(z), 1))      never prod/f(y), which is NaN for f(y) = 0
max[y] f(y)     (f(y) == max)/(number of terms that are equal to it), as torch.amax; min likewise
"""

from __future__ import annotations

from einderive.ta.functions import REDUCERS
from einderive.ta.gradients.conjugates import conjugate
from einderive.ta.gradients.products import ZERO, times
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Condition, Node, Scope
from einderive.ta.ir.subst import rename

ONE = expr.const(1)


def shared(scope: Scope, value: Node, *, backward: bool = False) -> Node:
    """The value, an expression in the scope's iterators, times the term's share; `backward`, times
    its conjugate."""
    if REDUCERS[scope.reducer].order:
        return _of_ties(scope, value)
    if scope.reducer != "prod":
        return value
    others = _others(scope)
    return times(value, conjugate(others) if backward else others)


def _others(scope: Scope) -> Node:
    """The product of all other terms."""
    first, count = len(scope.loops), len(scope.sums)
    own = affine.iterator_rows(first + count)
    moved = {i: i if i < first else i + count for i in range(first + count)}
    same = [
        Condition("==", affine.add(own[i], affine.iterator(i + count), -1))
        for i in range(first, first + count)
    ]
    body = expr.select(same, ONE, rename(scope.body, moved))
    return expr.access(make(scope.domain, scope.sums, body, "prod"), own)


def _of_ties(scope: Scope, value: Node) -> Node:
    """An even part of the value, for the terms that are the extreme one."""
    own = affine.iterator_rows(len(scope.loops))
    chosen = expr.apply("equal", scope.body, expr.access(scope, own))
    ties = expr.access(make(scope.loops, scope.sums, chosen), own)
    return expr.apply("choose", chosen, expr.divide(value, ties), ZERO)
