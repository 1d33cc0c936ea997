"""Helpers of rules that propose: witnesses from maps, and suggestions from the rows of a body.

Nothing here has to be trusted, since the kernel verifies every witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd

from einderive.derivations.steps.maps import Maps
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Node, Scope, Select
from einderive.ta.ir.subst import accesses, walk

Ranges = Sequence[Range]


@lru_cache(maxsize=4096)
def body_rows(body: Node) -> tuple[tuple[Access, Row], ...]:
    """The rows of the body's accesses, each with its access.  A row that an access has twice is
    listed once."""
    return tuple(
        (access, row)
        for access in accesses(body)
        for row in dict.fromkeys(access.rows)
        if row.terms or row.floors
    )


@lru_cache(maxsize=4096)
def condition_rows(body: Node) -> tuple[Row, ...]:
    """The distinct rows of the body's conditions."""
    selects = (node for node in walk(body) if isinstance(node, Select))
    return tuple(dict.fromkeys(c.row for select in selects for c in select.conditions))


@lru_cache(maxsize=64)
def affine_rows(scope: Scope) -> tuple[Row, ...]:
    """The distinct affine rows of the body's accesses and conditions."""
    rows = [row for _, row in body_rows(scope.body)] + list(condition_rows(scope.body))
    return tuple(dict.fromkeys([row for row in rows if not row.floors]))


def divisors(scope: Scope) -> tuple[tuple[int, int], ...]:
    """(iterator, n) for every `(i + c) // n` in the rows of the body."""
    found: dict[tuple[int, int], None] = {}
    for _, row in body_rows(scope.body):
        for inner, n, _ in row.floors:
            if len(inner.terms) == 1 and abs(inner.terms[0][1]) == 1:
                found[inner.terms[0][0], n] = None
    return tuple(found)


def first_use(body: Node, replacement: Sequence[Row], count: int) -> list[int]:
    """The iterators below `count` that the body uses after the replacement: first those of its
    reads, then those of its conditions, in the order of first use."""
    seen: dict[int, None] = {}
    for access in accesses(body):
        for row in access.rows:
            new = affine.substitute(row, replacement)
            for i, _ in new.terms:
                seen[i] = None
            if new.floors:
                seen |= dict.fromkeys(sorted(affine.iterators(new)))
    conditions = 0
    for row in condition_rows(body):
        conditions |= affine.mask(affine.substitute(row, replacement))
    seen |= dict.fromkeys(affine.bits(conditions))
    return [i for i in seen if i < count]


def loops_witness(
    scope: Scope, forward: Sequence[Row], backward: Sequence[Row], ranges: Sequence[Range]
) -> ReindexLoops:
    """The witness for the maps.  New loops that the new body does not use are left out, and the
    others stand in the order of first use, so that equal producers become the same object."""
    count = len(ranges)
    sums = affine.iterator_rows(count + len(scope.sums))[count:]
    used = first_use(scope.body, (*forward, *sums), count)
    if used == list(range(count)):
        return ReindexLoops(tuple(forward), tuple(backward), tuple(ranges))
    return _ordered(forward, backward, ranges, used)


def _ordered(
    forward: Sequence[Row], backward: Sequence[Row], ranges: Ranges, order: Sequence[int]
) -> ReindexLoops:
    """The witness for the maps, with the new loops in this order and without others."""
    positions = {i: affine.constant(side.lo) for i, side in enumerate(ranges)}
    positions |= {old: affine.iterator(new) for new, old in enumerate(order)}
    return ReindexLoops(
        tuple(affine.substitute(row, positions) for row in forward),
        tuple(backward[i] for i in order),
        tuple(ranges[i] for i in order),
    )


def maps_witness(
    scope: Scope, position: int, forward: Sequence[Row], backward: Sequence[Row], new: Ranges
) -> Maps:
    """The witness for the maps of the loops, if the iterator at the position is a loop; otherwise
    for those of the reduction iterators."""
    if position < len(scope.loops):
        return loops_witness(scope, forward, backward, new)
    return ReindexSums(tuple(forward), tuple(backward), tuple(new))


def _kind(scope: Scope, position: int) -> tuple[list[Row], list[Range], int]:
    """The loops, or the reduction iterators, whichever the iterator is among: as rows, with their
    ranges, and the place of the iterator among them."""
    first = len(scope.loops)
    kind = slice(0, first) if position < first else slice(first, len(scope.domain))
    rows = affine.iterator_rows(len(scope.domain))
    return list(rows[kind]), list(scope.domain[kind]), position - kind.start


def replace_iterator(scope: Scope, position: int, row: Row, new: Row, bound: Range) -> Maps:
    """The witness that puts t with range `bound` in the place of an iterator: `new` is t in the old
    iterators, `row` the old one in the new ones (t at the same position)."""
    rows, ranges, place = _kind(scope, position)
    ranges[place] = bound
    around = rows[:place], rows[place + 1 :]
    forward, backward = ([*around[0], each, *around[1]] for each in (row, new))
    return maps_witness(scope, position, forward, backward, ranges)


def solve(row: Row, position: int) -> Row:
    """`x` from `t = row` with a coefficient of +1 or -1 at x; t takes the place of x."""
    sign = row.coefficient(position)
    rest = affine.add(row, affine.iterator(position), -sign)
    return affine.scale(affine.add(affine.iterator(position), rest, -1), sign)


def split_iterator(scope: Scope, position: int, factor: int) -> Maps:
    """The witness for `x = lo + factor*q + p` with q, p in place of x.  q covers a partial block at
    the end."""
    return maps_witness(scope, position, *_split(scope, position, factor))


def split_in_place(scope: Scope, loop: int, factor: int) -> ReindexLoops:
    """The witness of `split_iterator` with q and p next to each other in the place of a loop x, so
    that the result has the same order in memory."""
    forward, backward, ranges = _split(scope, loop, factor)
    order = list(range(len(ranges) - 1))
    order.insert(loop + 1, len(ranges) - 1)
    return _ordered(forward, backward, ranges, order)


def _split(scope: Scope, position: int, factor: int) -> tuple[list[Row], list[Row], list[Range]]:
    """q stands at the position of x, p behind all iterators of their kind."""
    forward, ranges, place = _kind(scope, position)
    x, bound = affine.iterator(position), ranges[place]
    p = affine.iterator(position - place + len(forward))
    base, backward = affine.shift(x, -bound.lo), list(forward)
    forward[place] = affine.add(affine.shift(affine.scale(x, factor), bound.lo), p)
    backward[place] = affine.floordiv(base, factor)
    ranges[place] = Range(0, -(-bound.extent // factor))
    return forward, [*backward, affine.modulo(base, factor)], [*ranges, Range(0, factor)]


@lru_cache(maxsize=4096)
def combinations(row: Row, allowed: range) -> tuple[Row, ...]:
    """Candidates for a new iterator from a row: the part of the row in the `allowed` iterators as a
    whole (with the constant, if the row has no other iterators), and its groups of equal absolute
    coefficients."""
    terms = tuple((i, a) for i, a in row.terms if i in allowed)
    if len(terms) < 2:
        return ()
    only = len(terms) == len(row.terms)
    step = gcd(*(a for _, a in terms))
    found = {Row(0, tuple((i, a // step) for i, a in terms)): None}
    if only and step == 1:
        found = {Row(row.const, terms): None}
    for size in sorted({abs(a) for _, a in terms}):
        group = tuple((i, a // size) for i, a in terms if abs(a) == size)
        if 2 <= len(group) < len(terms):
            found[Row(0, group)] = None
    return tuple(found)


def near_divisors(extent: int, targets: Sequence[int], most: int = 4) -> list[int]:
    """Proper divisors of the extent, those nearest to the targets (as ratios) first."""
    proper = [d for d in _divisors(extent) if 1 < d < extent]
    if not targets:
        return proper[:most]

    def far(d: int) -> float:
        return min(max(d / t, t / d) for t in targets)

    return sorted(proper, key=lambda d: (far(d), d))[:most]


@lru_cache(maxsize=4096)
def _divisors(extent: int) -> tuple[int, ...]:
    small = [d for d in range(1, int(extent**0.5) + 1) if extent % d == 0]
    return tuple(sorted({*small, *(extent // d for d in small)}))
