"""Reductions that are one term, because an equality fixes their iterators.

    S[v, y] where(e(y) == v, f, 0)    at v = e,  if e does not depend on v      a gather: E[I[n], d]

The same holds for every reducer, with its value over an empty range in the place of 0.  If e is
NaN, it equals no v.  Over the rationals nothing is claimed for such an e, and the value is 0 too.
"""

from __future__ import annotations

from typing import NamedTuple

from einderive.ta.functions import REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Apply, Node, Scope, Tensor
from einderive.ta.ir.positions import is_input


class OneTerm(NamedTuple):
    """The one term: `values` maps v to e; `body` is f, which may hold the v."""

    values: dict[int, Node]
    body: Node


def one_term(scope: Scope) -> OneTerm | None:
    """The equalities that fix iterators of the scope's reduction.  None if there are none."""
    if not scope.sums or not isinstance(scope.body, Apply):
        return None
    nothing = expr.const(REDUCERS[scope.reducer].identity)
    sums = range(len(scope.loops), len(scope.domain))
    values: dict[int, Node] = {}
    others: list[Node] = []
    body: Node = scope.body
    used = 0
    while isinstance(body, Apply) and body.function == "choose" and body.args[2] is nothing:
        condition, body, _ = body.args
        for v, e in equalities(condition):
            fixed = sum(1 << i for i in (*values, v))
            if v in sums and v not in values and not (used | e.free) & fixed:
                values[v], used = e, used | e.free
                break
        else:
            others.append(condition)
    for condition in reversed(others):
        body = expr.apply("choose", condition, body, nothing)
    return OneTerm(values, body) if values else None


def equalities(condition: Node) -> list[tuple[int, Node]]:
    """Pairs of an iterator and the value that the condition says it equals."""
    if not isinstance(condition, Apply) or condition.function != "equal":
        return []
    left, right = condition.args
    return [(v, e) for at, e in ((left, right), (right, left)) if (v := _iterator(at)) is not None]


def _iterator(node: Node) -> int | None:
    """The iterator of which the node is the value."""
    if not isinstance(node, Access) or not isinstance(node.source, Tensor):
        return None
    return None if is_input(node.source) else node.rows[0].lone
