"""Whole rows of the outputs, each computed alone, if the full float64 reference takes too long.

    Y[i,j] = S[k] f(i,j,k)    at i = 3:    {L[i in 3:4, j] S[k] f(i,j,k)},   a row of Y

A row lies along the last dimension.  The rows are chosen in this order:

- one through every corner (beyond four dimensions, through the first and the last corner);
- one on either side of every border: where a read enters or leaves its source, where a condition
  changes, and in the middle of each range, where pieces of a split meet;
- random rows, as many as the work allows.

If rows themselves take too long, parts of them are computed: the beginning, the end and the middle,
in turn.  Products of three factors and more are contracted pair by pair (`equally_cheap`), which is
an identity of sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
import torch

from einderive.derivations.rules.contraction_order import pairs
from einderive.derivations.steps.contract_pairs import plain_factors
from einderive.derivations.steps.kernel import apply
from einderive.frontend.accuracy.rows import Piece, narrowed
from einderive.ta.errors import RuleRefused
from einderive.ta.exact.direct import computed, computed_points
from einderive.ta.exact.interp import visited
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Select
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import accesses, stages, walk

FULL_SECONDS = 0.2
"""A reference that is predicted to take no longer is computed in full."""
SAMPLED_SECONDS = 0.3
"""Rows are added until they are predicted to take this long."""
MOST_ROWS = 48
PRODUCTS_A_SECOND, ELEMENTS_A_SECOND, COPIED_A_SECOND = 4e9, 1e8, 2e8
"""Multiply-adds of a float64 matrix product, elementwise operations, and entries of an operand that
is copied for the product since it is read through windows, on a slow core."""
LEAST_LENGTH = 64
"""Shorter parts of rows are not taken."""
MOST_TERMS = 1 << 22
"""Terms that a formula as written may sum to be evaluated as such: beyond, torch takes a second."""
COMPARED_A_SECOND = 1e7
"""Entries of an output, which every program is compared in."""


def equally_cheap(root: Scope) -> Scope:
    """The scope with its products of many factors contracted pair by pair."""
    done: dict[Scope, Scope] = {}
    for stage in stages(root):
        done[stage] = _contracted(redirected(stage, done))
    return done[root]


def evaluable(scopes: Sequence[Scope]) -> tuple[Scope, ...]:
    """The scopes as they are written.  If nobody would evaluate them so (one entry of a product of
    ten matrices sums 2^54 terms), their products are contracted pair by pair."""
    few = computed_points(*scopes) <= MOST_TERMS
    return tuple(scopes) if few else tuple(map(equally_cheap, scopes))


def _contracted(stage: Scope) -> Scope:
    if not stage.sums or len(plain_factors(stage)) < 3:
        return stage
    for witness in pairs(stage, 3):
        try:
            return apply(stage, witness)
        except RuleRefused:
            continue
    return stage


def pieces(roots: Sequence[Scope]) -> tuple[Piece, ...]:
    """Rows of all outputs.  None if the outputs as a whole are cheap enough."""
    entries = sum(prod(root.shape) for root in roots)
    if seconds(roots) + entries / COMPARED_A_SECOND <= FULL_SECONDS:
        return ()
    found: list[Piece] = []
    for number, root in enumerate(roots):
        left = SAMPLED_SECONDS / len(roots)
        corners = 2 ** min(3, max(0, len(root.loops) - 1))
        for place, row in enumerate(_boxes(root)):
            box = _cut(row, seconds([narrowed(root, row)]) * corners / SAMPLED_SECONDS, place)
            piece = Piece(number, root, box, place < corners)
            left -= seconds([piece.scope])
            if place >= corners and left < 0:
                break
            found.append(piece)
    return tuple(found)


def _cut(row: tuple[Range, ...], times: float, place: int) -> tuple[Range, ...]:
    """The part of a row that is this many times cheaper, where it would take too long: its
    beginning, its end or its middle, by its place among the rows."""
    if times <= 1 or not row:
        return row
    *leading, (low, high) = row
    length = max(min(LEAST_LENGTH, high - low), int((high - low) / times))
    start = (low, high - length, (low + high - length) // 2)[place % 3]
    return (*leading, Range(start, start + length))


def fewer_terms(root: Scope, most: int) -> Scope:
    """The scope with sums over the last parts of their ranges alone, so short that an entry takes
    at most this many values to compute, as far as sums decide that."""
    found, halvings = root, 0
    longest = max((side.extent for stage in stages(root) for side in stage.sums), default=0)
    while visited([found], 1) > most and longest > 2**halvings:
        halvings += 1
        done: dict[Scope, Scope] = {}
        for stage in stages(root):
            new = redirected(stage, done)
            sums = [Range(hi - -(-(hi - lo) // 2**halvings), hi) for lo, hi in new.sums]
            done[stage] = make_scope(new.loops, sums, new.body, new.reducer)
        found = done[root]
    return found


def gathered(outputs: Sequence[torch.Tensor], parts: Sequence[Piece]) -> tuple[torch.Tensor, ...]:
    """The pieces of each output, joined."""
    return joined([outputs[piece.output][piece.index] for piece in parts], parts)


def joined(values: Sequence[torch.Tensor], parts: Sequence[Piece]) -> tuple[torch.Tensor, ...]:
    """The values of the pieces, joined for each output."""
    found: dict[int, list[torch.Tensor]] = {}
    for piece, value in zip(parts, values, strict=True):
        found.setdefault(piece.output, []).append(value.reshape(-1))
    return tuple(torch.cat(found[number]) for number in sorted(found))


def seconds(roots: Sequence[Scope]) -> float:
    """The approximate time of the scopes' reference.  A product of two factors is a matrix product;
    everything else is evaluated point by point."""
    total = 0.0
    for stage in stages(*roots):
        size = float(computed(stage))
        factors = plain_factors(stage)
        held = [factor.free for factor in factors]
        if len(held) == 2 and stage.sums and held[0] != held[1]:
            copied = sum(_copied(factor, stage) for factor in factors)
            total += size / PRODUCTS_A_SECOND + copied / COPIED_A_SECOND
        else:
            steps = sum(not isinstance(node, Access) for node in walk(stage.body)) or 1
            total += steps * size / ELEMENTS_A_SECOND
    return total


def _copied(factor: Node, stage: Scope) -> float:
    """Entries of the operand as a matrix, where that is no view of it: its reads are windows."""
    if not any(len(row.terms) > 1 for read in accesses(factor) for row in read.rows):
        return 0.0
    return float(prod(e for i, e in enumerate(stage.extents) if factor.free >> i & 1))


def _boxes(root: Scope) -> Iterator[tuple[Range, ...]]:
    """The needed rows, then random ones."""
    seen: set[tuple[Range, ...]] = set()
    generator = np.random.default_rng(11)
    leading = root.loops[:-1]

    def random() -> Iterator[tuple[int, ...]]:
        while leading and len(seen) < min(MOST_ROWS, prod(loop.extent for loop in leading)):
            yield tuple(int(generator.integers(*loop)) for loop in leading)

    for chosen in (part for parts in (_needed(root), random()) for part in parts):
        box = (*(Range(at, at + 1) for at in chosen), *root.loops[len(leading) :])
        if box not in seen:
            seen.add(box)
            yield box


def _needed(root: Scope) -> Iterable[tuple[int, ...]]:
    """The leading indices of rows at corners and borders: at a border of one loop, the others are
    at their first, last or middle index in turn."""
    leading = root.loops[:-1]
    if not leading:
        return [()]
    ends = [sorted({loop.lo, loop.hi - 1}) for loop in leading]
    corners = product(*ends) if len(leading) <= 3 else (tuple(e[s] for e in ends) for s in (0, -1))
    found = list(corners)
    for axis, loop in enumerate(leading):
        for turn, at in enumerate(sorted(_borders(root, axis, loop))):
            others = [
                (one.lo, one.hi - 1, (one.lo + one.hi) // 2)[(turn + place) % 3]
                for place, one in enumerate(leading)
            ]
            others[axis] = at
            found.append(tuple(others))
    return dict.fromkeys(found)


MOST_BORDERS = 12


def _borders(root: Scope, axis: int, loop: Range) -> set[int]:
    """Both sides of each place along a loop where something changes."""
    middle = (loop.lo + loop.hi) // 2
    found = {middle - 1, middle}
    for node in walk(root.body):
        rows: list[tuple[Row, int, int]] = []
        if isinstance(node, Access):
            rows = [
                (row, bound.lo, bound.hi)
                for row, bound in zip(node.rows, node.source.ranges, strict=True)
            ]
        elif isinstance(node, Select):
            rows = [(condition.row, 0, 1) for condition in node.conditions]
        for row, low, high in rows:
            factor = row.coefficient(axis)
            if not factor:
                continue
            rest = affine.add(row, affine.scale(affine.iterator(axis), factor), -1)
            least, most = affine.bounds(rest, root.domain)
            for value in (low - least, low - most, high - least, high - most):
                at = value // factor
                found |= {at - 1, at, at + 1}
    inside = sorted(at for at in found if loop.lo <= at < loop.hi)
    step = -(-len(inside) // MOST_BORDERS) or 1
    return set(inside[::step])
