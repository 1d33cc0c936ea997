"""Reductions of which each term goes to one place of the result.

    Y[x, v] = S[y] where(e(x, y) == v, f(x, y), 0)       f(x, y) goes to v = e: a scatter

The same holds for every reducer, with its value over an empty range in the place of 0.
"""

from __future__ import annotations

from typing import NamedTuple

from einderive.ta.exact.one_term import equalities
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.node import Apply, Condition, Node, Scope, Select


class Scattered(NamedTuple):
    """A scatter: `places` maps each loop v that an equality fixes to e; `body` is f.  Neither
    depends on v."""

    places: dict[int, Node]
    body: Node


def scattered(scope: Scope) -> Scattered | None:
    """The equalities that say where terms go.  None if there are none."""
    if not scope.sums or not isinstance(scope.body, Apply | Select):
        return None
    nothing = expr.const(REDUCERS[scope.reducer].identity)
    loops = len(scope.loops)
    places: dict[int, Node] = {}
    others: list[Node | Condition] = []

    def take(part: Node | Condition) -> None:
        pairs = _of_rows(part) if isinstance(part, Condition) else equalities(part)
        for v, e in pairs:
            if v < loops and v not in places and not e.free >> v & 1:
                places[v] = e
                return
        others.append(part)

    body: Node = scope.body
    while True:
        if isinstance(body, Apply) and FUNCTIONS[body.function].picks and body.args[2] is nothing:
            take(body.args[0])
            body = body.args[1]
        elif isinstance(body, Select) and body.otherwise is nothing:
            for condition in body.conditions:
                take(condition)
            body = body.then
        elif equalities(body) and nothing is expr.const(0):  # where(e == v, 1, 0)
            take(body)
            body = expr.const(1)
        else:
            break
    for part in reversed(others):
        if isinstance(part, Condition):
            body = expr.select([part], body, nothing)
        else:
            body = expr.apply("choose", part, body, nothing)
    used = body.free
    for e in places.values():
        used |= e.free
    if not places or any(used >> v & 1 for v in places):
        return None
    return Scattered(places, body)


def _of_rows(condition: Condition) -> list[tuple[int, Node]]:
    """Each iterator that the condition says to equal a row of others."""
    relation, row = condition
    if relation != "==":
        return []
    found = []
    for v, factor in row.terms:
        rest = affine.add(row, affine.iterator(v), -factor)
        if abs(factor) == 1 and not affine.mask(rest) >> v & 1:
            found.append((v, expr.position(affine.scale(rest, -factor))))
    return found
