"""The constructor of scopes, and the canonical order of reduction iterators.

Two scopes that differ in the names or in the order of their reduction iterators are one object.
The order is found as a canonical labelling: reduction iterators are sorted by how they occur, and
where that leaves ties, all orders of the tied ones are tried and the least result is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations, product
from math import factorial, prod

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.box import box
from einderive.ta.ir.interning import make_scope
from einderive.ta.ir.node import Access, Condition, Node, Reducer, Scope, Select
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import rebuild, rename, substitute, walk

TRUE = Condition(">=", Row(0))
FALSE = Condition(">=", Row(-1))
MOST_ORDERS = 120
"""At most this many tied orders are tried.  If there are more, equal scopes may remain two objects.
"""


def scope(
    loops: Sequence[Range | tuple[int, int]],
    sums: Sequence[Range | tuple[int, int]],
    body: Node,
    reducer: Reducer = "sum",
    *,
    resolved: bool = False,
) -> Scope:
    """`{L[loops] S[sums] body}`, a tensor on the box `loops`.

    Rows are simplified over the ranges, a read that always misses its source becomes its fill, and
    reduction iterators without effect are dropped.  `resolved` says that the body comes from a
    scope in which these iterators have the same ranges, so that all this has been done.
    """
    found = box(tuple(loops), tuple(sums))
    if body.free >> len(found.domain):
        raise ValueError("the body uses an iterator that the scope does not have")
    if not resolved and not found.empty:
        body = resolve(body, found.domain)
    kept, body = _drop_idle_sums(found.loops, found.sums, body, reducer)
    if len(kept) > 1:
        kept, body = _order_sums(len(found.loops), kept, body)
    if kept is not found.sums:
        found = box(found.loops, kept)
    return make_scope(found, reducer if kept else "sum", body)


def resolve(body: Node, ranges: Sequence[Range]) -> Node:
    """The body with rows simplified over the ranges, and with reads and conditions replaced that
    are decided there."""
    if not _undecided(body, ranges):
        return body

    def on_row(row: Row) -> Row:
        return affine.simplify(row, ranges)

    def on_access(access: Access) -> Node:
        rows = tuple(map(on_row, access.rows))
        for row, bound in zip(rows, access.source.ranges, strict=True):
            low, high = affine.bounds(row, ranges)
            if high < bound.lo or low >= bound.hi:
                return expr.const(access.fill)
        if access.source is INDEX:
            return expr.position(rows[0])
        return access if rows == access.rows else expr.access(access.source, rows, access.fill)

    def on_condition(condition: Condition) -> Condition:
        row = on_row(condition.row)
        low, high = affine.bounds(row, ranges)
        if condition.relation == ">=":
            return TRUE if low >= 0 else FALSE if high < 0 else Condition(">=", row)
        return FALSE if low > 0 or high < 0 else Condition("==", row)

    return rebuild(body, on_access, on_condition)


def _undecided(body: Node, ranges: Sequence[Range]) -> bool:
    """Whether there may be something to resolve: a `//`, a condition, a read that always misses."""
    for node in walk(body):
        if isinstance(node, Access):
            for row, (start, stop) in zip(node.rows, node.source.ranges, strict=True):
                low, terms, floors = row
                if floors:
                    return True
                high = low
                for i, a in terms:  # the row's bounds: this is asked of every new scope
                    lo, hi = ranges[i]
                    low += a * (lo if a > 0 else hi - 1)
                    high += a * (hi - 1 if a > 0 else lo)
                if high < start or low >= stop:
                    return True
        elif isinstance(node, Select):
            return True
    return False


def _drop_idle_sums(
    loops: tuple[Range, ...], sums: tuple[Range, ...], body: Node, reducer: Reducer
) -> tuple[tuple[Range, ...], Node]:
    """`S[s:0:1] f(s) = f(0)`, and for a body without s: `S[s:0:N] f = N*f`, `max[s] f = f`,
    `prod[s] f = f^N`."""
    first = len(loops)
    if body.free >> first == (1 << len(sums)) - 1 and 1 not in [hi - lo for lo, hi in sums]:
        return sums, body
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
    marks = list(zip(_occurrences(first, len(sums), body), sums, strict=True))
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


def _occurrences(first: int, count: int, body: Node) -> list[list[Mark]]:
    """The occurrences of each reduction iterator in the body's accesses and conditions."""
    found: list[list[Mark]] = [[] for _ in range(count)]
    for node in walk(body):
        if isinstance(node, Access):
            for position, marks in _in_access(node, first):
                found[position - first] += marks
        elif isinstance(node, Select):
            for condition in node.conditions:
                for position in affine.bits(affine.mask(condition.row) >> first << first):
                    mark = _blind(condition.row, position, first)
                    if condition.relation == "==":  # its sign depends on the order sought here
                        reverse = affine.scale(condition.row, -1)
                        mark = min(mark, _blind(reverse, position, first))
                    found[position - first].append(("", -1, mark, (condition.relation, 0)))
    for marks in found:
        marks.sort()
    return found


@lru_cache(maxsize=32768)
def _in_access(access: Access, first: int) -> tuple[tuple[int, list[Mark]], ...]:
    """The source, the dimension and the row, for each reduction iterator and each row that holds
    it."""
    found: dict[int, list[Mark]] = {}
    fill = (str(access.fill) if access.fill else "0", access.source.digest)
    for dimension, row in enumerate(access.rows):
        for position in affine.bits(affine.mask(row) >> first << first):
            blind = _blind(row, position, first)
            if access.source is INDEX:  # in a product its sign depends on the order sought here
                blind = min(blind, _blind(affine.scale(row, -1), position, first))
            mark = (access.source.label, dimension, blind, fill)
            found.setdefault(position, []).append(mark)
    return tuple(found.items())


def _blind(row: Row, position: int, first: int) -> Mark:
    """The row with this iterator marked -2 and other reduction iterators marked -1."""
    if len(row.terms) == 1 and not row.floors:
        return (row.const, ((-2, row.terms[0][1]),), ())
    marked = sorted([(-2 if i == position else i if i < first else -1, a) for i, a in row.terms])
    floors = sorted([(_blind(inner, position, first), n, b) for inner, n, b in row.floors])
    return (row.const, tuple(marked), tuple(floors))
