"""The constructor of scopes, and the canonical order of reduction iterators.

Two scopes that differ in the names or in the order of their reduction iterators are one object.
The order is found as a canonical labelling: reduction iterators are sorted by how they occur, and
where that leaves ties, all orders of the tied ones are tried and the least result is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from math import factorial, prod

from ta import affine, expr
from ta.affine import Range, Row
from ta.node import Access, Condition, Node, Reducer, Scope, make_scope
from ta.subst import rebuild, rename, substitute, walk

TRUE = Condition(">=", Row(0))
FALSE = Condition(">=", Row(-1))
MOST_ORDERS = 120
"""More tied orders than this are not tried; that can only miss a merge."""


def scope(
    loops: Sequence[Range | tuple[int, int]],
    sums: Sequence[Range | tuple[int, int]],
    body: Node,
    reducer: Reducer = "sum",
) -> Scope:
    """`{L[loops] S[sums] body}`, a tensor on the box `loops`.

    Rows are resolved over the ranges, reads that always miss their source become its fill, and
    reduction iterators that do nothing are dropped.
    """
    loop_ranges = tuple(Range(*loop) for loop in loops)
    sum_ranges = tuple(Range(*item) for item in sums)
    if body.free >> (len(loop_ranges) + len(sum_ranges)):
        raise ValueError("the body uses an iterator that the scope does not have")
    if any(r.lo > r.hi for r in loop_ranges + sum_ranges):
        raise ValueError("a range ends before it begins")
    ranges = loop_ranges + sum_ranges
    if all(r.extent for r in ranges):
        body = resolve(body, ranges)
    sum_ranges, body = _drop_idle_sums(loop_ranges, sum_ranges, body, reducer)
    if len(sum_ranges) > 1:
        sum_ranges, body = _order_sums(len(loop_ranges), sum_ranges, body)
    return make_scope(loop_ranges, sum_ranges, reducer if sum_ranges else "sum", body)


def resolve(body: Node, ranges: Sequence[Range]) -> Node:
    """The body with rows simplified over the ranges and decided reads and conditions replaced."""

    def on_row(row: Row) -> Row:
        return affine.simplify(row, ranges)

    def on_access(access: Access) -> Node:
        rows = tuple(map(on_row, access.rows))
        for row, bound in zip(rows, access.source.ranges, strict=True):
            low, high = affine.bounds(row, ranges)
            if high < bound.lo or low >= bound.hi:
                return expr.const(access.fill)
        return access if rows == access.rows else expr.access(access.source, rows, access.fill)

    def on_condition(condition: Condition) -> Condition:
        row = on_row(condition.row)
        low, high = affine.bounds(row, ranges)
        if condition.relation == ">=":
            return TRUE if low >= 0 else FALSE if high < 0 else Condition(">=", row)
        return FALSE if low > 0 or high < 0 else Condition("==", row)

    return rebuild(body, on_access, on_condition)


def _drop_idle_sums(
    loops: tuple[Range, ...], sums: tuple[Range, ...], body: Node, reducer: Reducer
) -> tuple[tuple[Range, ...], Node]:
    """`S[s:0:1] f(s) = f(0)`, and for a body without s: `S[s:0:N] f = N*f`, `max[s] f = f`,
    `prod[s] f = f^N`."""
    first = len(loops)
    kept: list[int] = []
    replacement = {i: affine.iterator(i) for i in range(first)}
    for position, bound in enumerate(sums, first):
        used = body.free >> position & 1
        if bound.extent == 1:
            replacement[position] = affine.constant(bound.lo)
        elif used or bound.extent == 0:
            replacement[position] = affine.iterator(first + len(kept))
            kept.append(position)
        elif reducer == "sum":
            body = expr.mul(expr.const(bound.extent), body)
        elif reducer == "prod":
            body = expr.power(body, bound.extent)
    if len(kept) == len(sums):
        return sums, body
    kept_ranges = tuple(sums[position - first] for position in kept)
    body = substitute(body, replacement)
    ranges = loops + kept_ranges
    if all(r.extent for r in ranges):
        body = resolve(body, ranges)
    return _drop_idle_sums(loops, kept_ranges, body, reducer)  # what is resolved may idle as well


Mark = tuple[object, ...]


def _order_sums(first: int, sums: tuple[Range, ...], body: Node) -> tuple[tuple[Range, ...], Node]:
    marks = [(_occurrences(first + p, first, body), r) for p, r in enumerate(sums)]
    order = sorted(range(len(sums)), key=lambda p: marks[p])
    groups: list[list[int]] = []
    for position in order:
        if groups and marks[groups[-1][0]] == marks[position]:
            groups[-1].append(position)
        else:
            groups.append([position])
    if len(groups) == len(sums) or prod(factorial(len(g)) for g in groups) > MOST_ORDERS:
        return _reorder(first, sums, body, order)
    choices = product(*(list(permutations(group)) for group in groups))
    results = (_reorder(first, sums, body, [p for g in c for p in g]) for c in choices)
    return min(results, key=lambda result: result[1].digest)


def _reorder(
    first: int, sums: tuple[Range, ...], body: Node, order: Sequence[int]
) -> tuple[tuple[Range, ...], Node]:
    if list(order) == list(range(len(sums))):
        return sums, body
    positions = {i: i for i in range(first)}
    positions |= {first + old: first + new for new, old in enumerate(order)}
    return tuple(sums[old] for old in order), rename(body, positions)


def _occurrences(position: int, first: int, body: Node) -> list[Mark]:
    """How one reduction iterator occurs: for each row that holds it, the source, the dimension, and
    the row with this iterator marked -2 and other reduction iterators marked -1."""
    found: list[Mark] = []

    def blind(row: Row) -> Mark:
        terms = sorted((-2 if i == position else i if i < first else -1, a) for i, a in row.terms)
        floors = sorted((blind(inner), n, b) for inner, n, b in row.floors)
        return (row.const, tuple(terms), tuple(floors))

    for node in walk(body):
        if not node.free >> position & 1:
            continue
        if isinstance(node, Access):
            name = node.source.label
            for dimension, row in enumerate(node.rows):
                if position in affine.iterators(row):
                    fill = (str(node.fill), node.source.digest)
                    found.append((name, dimension, blind(row), fill))
        else:
            for condition in getattr(node, "conditions", ()):
                if position in affine.iterators(condition.row):
                    mark = blind(condition.row)
                    if condition.relation == "==":  # its sign depends on the order sought here
                        mark = min(mark, blind(affine.scale(condition.row, -1)))
                    found.append(("", -1, mark, (condition.relation, 0)))
    return sorted(found)
