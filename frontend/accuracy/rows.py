"""Whole rows of a program's outputs, computed without the rest.

    Y[i,j] = S[k] f(i,j,k)    at i = 3:    {L[i in 3:4, j] S[k] f(i,j,k)},   a row of Y

A row is what lies along the last dimension of an output.  A scope that the row reads is computed
over the box of what is read of it alone: the bounds of the rows of indices over the reader's box.
Reads beyond a scope's own ranges still give the fill, since no read lies between the two boxes.
The rows are the first and the last one, so that all corners are met, and random ones between them;
where one row is too much work, pieces of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import torch

from einderive.ta.exact.direct import computed_points
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.sources import with_tensors
from einderive.ta.ir.subst import accesses, stages

ROWS = 8
"""At most this many rows of an output, at least two."""
PIECES = 3
"""This many pieces of rows if whole rows are too much work: at both ends, and between."""
WORK = 1 << 17
"""Points of iteration spaces that the rows of all outputs may take together."""
WIDE = 8
LEAST = 4
"""Entries of the shortest piece of a row."""
SMALL = 1 / 16
"""A row is small if its entries are below this part of those of half of the rows."""

Box = tuple[Range, ...]


@dataclass(frozen=True)
class Piece:
    """A row of an output, or a part of one, over a box of the output's loops; `corner`: it goes
    through one."""

    output: int
    root: Scope
    box: Box
    corner: bool = True

    @cached_property
    def scope(self) -> Scope:
        """The scope that computes it alone."""
        return narrowed(self.root, self.box)

    @property
    def index(self) -> tuple[slice, ...]:
        """The place in the output."""
        return _place(self.box, self.root.loops)

    @cached_property
    def wide(self) -> Scope:
        """The scope that computes it with its neighbours, `WIDE` along each dimension: a product of
        matrices is accumulated otherwise than one of a row and a matrix."""
        return narrowed(self.root, tuple(map(_around, self.box, self.root.loops)))

    @property
    def inside(self) -> tuple[slice, ...]:
        """The place among the neighbours."""
        return _place(self.box, self.wide.loops)


def pieces(roots: Sequence[Scope], most_work: int = WORK) -> tuple[Piece, ...]:
    """Rows of each output, as many as the work allows."""
    return tuple(
        Piece(output, root, box)
        for output, root in enumerate(roots)
        for box in _boxes(root, most_work // len(roots))
    )


def smallest(roots: Sequence[Scope], outputs: Sequence[torch.Tensor]) -> tuple[Piece, ...]:
    """For each output, the row with the smallest greatest entry, if it is small beside the other
    rows: there, subtraction matters most."""
    found: list[Piece] = []
    for output, (root, values) in enumerate(zip(roots, outputs, strict=True)):
        if values.dim() < 2 or not values.dtype.is_floating_point or not values.numel():
            continue
        # max |v|: in two passes, a tenth of the time of torch's norm
        rows = torch.maximum(values.amax(-1), -values.amin(-1))
        place = int(rows.argmin())
        if not float(rows.flatten()[place]) < SMALL * float(rows.median()):
            continue
        index = np.unravel_index(place, rows.shape)
        *leading, last = root.loops
        row = [
            Range(loop.lo + int(i), loop.lo + int(i) + 1)
            for loop, i in zip(leading, index, strict=True)
        ]
        box = (*row, last)
        if (whole := computed_points(narrowed(root, box))) > WORK:
            length = max(min(LEAST, last.extent), last.extent * WORK // whole)
            box = (*row, Range(last.lo, last.lo + length))
        found.append(Piece(output, root, box))
    return tuple(found)


def _around(part: Range, whole: Range) -> Range:
    """The part with what follows it, or goes before it at the end, `WIDE` elements if there are."""
    length = min(max(WIDE, part.extent), whole.extent)
    low = min(part.lo, whole.hi - length)
    return Range(low, low + length)


def _place(box: Box, whole: Box) -> tuple[slice, ...]:
    """The place of the box in a tensor over the whole box."""
    return tuple(slice(b.lo - w.lo, b.hi - w.lo) for b, w in zip(box, whole, strict=True))


def narrowed(root: Scope, box: Box) -> Scope:
    """The scope over a part of its loops.  The scopes that it reads are narrowed to the parts that
    it reads."""
    parts: dict[Scope, list[Range]] = {root: list(box)}
    for stage in reversed(stages(root)):
        domain = (*parts[stage], *stage.sums)
        empty = any(bound.extent == 0 for bound in domain)
        for access in accesses(stage.body):
            if isinstance(access.source, Scope):
                read = access.source.ranges if empty else _read(access, domain)
                known = parts.get(access.source)
                parts[access.source] = (
                    list(read) if known is None else list(map(_hull, known, read))
                )
    return with_tensors(root, lambda tensor: tensor, parts)


def _read(access: Access, domain: Sequence[Range]) -> list[Range]:
    """The box of the source that the access may hit; where it never does, a box of one element."""
    found = []
    for row, bound in zip(access.rows, access.source.ranges, strict=True):
        low, high = affine.bounds(row, domain)
        low, high = max(low, bound.lo), min(high + 1, bound.hi)
        found.append(
            Range(low, high) if low < high else Range(bound.lo, min(bound.lo + 1, bound.hi))
        )
    return found


def _hull(one: Range, other: Range) -> Range:
    return Range(min(one.lo, other.lo), max(one.hi, other.hi))


def _boxes(root: Scope, most_work: int) -> list[Box]:
    """The first row, the last row, and random ones; shorter where two are too much work."""
    if not root.loops or not prod(root.shape):
        return [root.loops]
    *leading, last = root.loops
    first = tuple(Range(loop.lo, loop.lo + 1) for loop in leading)
    row_work = max(1, computed_points(narrowed(root, (*first, last))))  # 0 where nothing is summed
    rows = prod(loop.extent for loop in leading)
    count = min(ROWS, max(2, most_work // row_work), rows)
    length = last.extent
    if count * row_work > most_work:
        length = max(min(LEAST, length), length * most_work // (PIECES * row_work))
        count = max(count, min(PIECES, last.extent // length))
    generator = np.random.default_rng(7)
    found: dict[Box, None] = {}
    for number in range(count):
        inner = 0 < number < count - 1
        row = [
            int(generator.integers(*loop)) if inner else (loop.hi - 1 if number else loop.lo)
            for loop in leading
        ]
        start = last.lo if number == 0 else last.hi - length
        if inner:
            start = int(generator.integers(last.lo, last.hi - length + 1))
        found[(*(Range(i, i + 1) for i in row), Range(start, start + length))] = None
    return list(found)
