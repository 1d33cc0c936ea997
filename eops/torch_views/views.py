"""Reads of a materialised tensor as views of its storage.

    V[x_1, ..., x_n] = source[r_1(x), ..., r_d(x)]        outside the source's ranges: the fill

Affine rows are views (`strided`), rows with `//` inside a gather (`eops.torch_views.gather`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch

from einderive.eops.torch_views.gather import GatherPlan, gather_view
from einderive.eops.torch_views.strided import Iterators, StridedPlan, fill_value, plan_strided
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Number


def plan_view(
    ranges: Sequence[Range], rows: Sequence[Row], iterators: Iterators, fill: Number
) -> ViewPlan:
    """`source[rows]` over the box of the iterators.

    The buffer has the extents of the source's `ranges`, with any strides; index 0 of a dimension
    is its `lo`.  The result shares memory with the buffer unless it had to be padded, flipped or
    gathered; its elements may overlap, so it must not be written to.
    """
    box = [Range(0, 1)] * (1 + max((position for position, _ in iterators), default=-1))
    for position, bound in iterators:
        box[position] = bound
    mentioned = set().union(*map(affine.iterators, rows))
    present = tuple((i, bound) for i, bound in iterators if i in mentioned)
    if any(bound.extent == 0 for _, bound in present):
        return ConstantPlan(present, fill)
    rows = [affine.simplify(row, box) for row in rows]
    if any(_misses(row, box, bound) for row, bound in zip(rows, ranges, strict=True)):
        return ConstantPlan((), fill)
    mentioned = set().union(*map(affine.iterators, rows))
    present = tuple((i, bound) for i, bound in present if i in mentioned)
    if any(row.floors for row in rows):
        return gather_view(ranges, rows, present, fill)
    return plan_strided(ranges, rows, present, fill)


def plan_reads(reads: Sequence[Access], domain: Sequence[Range]) -> tuple[ViewPlan, ...]:
    """`plan_view` of each read, over the box `domain`."""
    iterators = list(enumerate(domain))
    return tuple(plan_view(r.source.ranges, r.rows, iterators, r.fill) for r in reads)


def _misses(row: Row, box: Sequence[Range], bound: Range) -> bool:
    low, high = affine.bounds(row, box)
    return not bound.extent or high < bound.lo or low >= bound.hi


@dataclass(frozen=True, slots=True)
class ConstantPlan:
    """A read that never meets the source, or that has no elements."""

    iterators: tuple[tuple[int, Range], ...]
    fill: Number

    @property
    def present(self) -> tuple[int, ...]:
        return tuple(position for position, _ in self.iterators)

    def __call__(self, buffer: torch.Tensor) -> torch.Tensor:
        shape = [bound.extent for _, bound in self.iterators]
        return buffer.new_full(shape, fill_value(self.fill, buffer.dtype))


ViewPlan: TypeAlias = StridedPlan | GatherPlan | ConstantPlan
"""A read as a function of the buffer.  `present` are the iterators for which the result has a
dimension: those that the rows depend on.  The others are left to broadcasting."""
