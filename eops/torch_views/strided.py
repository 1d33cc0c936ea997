"""Affine reads of a materialised tensor as views of its storage.

Rows of any integer coefficients are one `as_strided` on the buffer's own strides, so overlapping
windows, diagonals, phases and expanded buffers cost nothing.  What rows read outside the source is
padded first, only in the dimensions concerned and only as far as they reach.  A stride that stays
negative costs a flip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import NamedTuple, TypeAlias

import torch

from einderive.eops.dtypes import holds
from einderive.eops.torch_views.types import real_scalar
from einderive.ta.errors import BuildError
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Number

Iterators: TypeAlias = Sequence[tuple[int, Range]]
"""Positions of iterators with their ranges, in the order of the view's dimensions."""


class Padding(NamedTuple):
    """Per dimension: the part that is read, and how many fills go before and after it."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    fill: Number


@dataclass(frozen=True, slots=True)
class StridedPlan:
    """An affine read.  Per dimension, of the padded buffer: `starts`, the index that all iterators
    at their `lo` read, and `spans`, the first index read and how many from there.  Per present
    iterator: its extent and its (dimension, coefficient) pairs."""

    present: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[tuple[tuple[int, int], ...], ...]
    starts: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    padding: Padding | None

    def __call__(self, buffer: torch.Tensor) -> torch.Tensor:
        if self.padding is not None:
            buffer = pad(buffer, self.padding)
        given = buffer.stride()
        strides = [sum(a * given[d] for d, a in step) for step in self.steps]
        if min(strides, default=0) < 0:
            return self._flipped(buffer, strides)
        return buffer.as_strided(self.sizes, strides, self._offset(buffer))

    def _offset(self, buffer: torch.Tensor) -> int:
        start = sum(i * stride for i, stride in zip(self.starts, buffer.stride(), strict=True))
        return int(buffer.storage_offset()) + start

    def _flipped(self, buffer: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
        """Flips those dimensions of the buffer that are only read backwards, where that copies
        less than flipping the view."""
        descending = self._descending()
        read = prod(length for _, length in self.spans)
        if descending and read <= prod(self.sizes):
            for dimension, (first, length) in enumerate(self.spans):
                buffer = buffer.narrow(dimension, first, length)
            return self._reversed(descending)(buffer.flip(sorted(descending)))
        backwards = [d for d, stride in enumerate(strides) if stride < 0]
        offset = self._offset(buffer)
        offset += sum((self.sizes[d] - 1) * strides[d] for d in backwards)
        view = buffer.as_strided(self.sizes, [abs(stride) for stride in strides], offset)
        return view.flip(backwards)

    def _descending(self) -> set[int]:
        signs = [(d, a > 0) for step in self.steps for d, a in step]
        return {d for d, _ in signs} - {d for d, positive in signs if positive}

    def _reversed(self, flipped: set[int]) -> StridedPlan:
        """The plan for the part that is read, with the flipped dimensions reversed."""
        starts = tuple(
            length - 1 - (start - first) if d in flipped else start - first
            for d, (start, (first, length)) in enumerate(zip(self.starts, self.spans, strict=True))
        )
        steps = tuple(tuple((d, -a if d in flipped else a) for d, a in step) for step in self.steps)
        spans = tuple((0, length) for _, length in self.spans)
        return StridedPlan(self.present, self.sizes, steps, starts, spans, None)


def plan_strided(
    ranges: Sequence[Range], rows: Sequence[Row], iterators: Iterators, fill: Number
) -> StridedPlan:
    """`source[rows]` of affine rows that meet the source and depend on all of the iterators, none
    of them empty."""
    box = dict(iterators)
    bounds = [affine.bounds(row, box) for row in rows]
    before = tuple(max(0, r.lo - low) for r, (low, _) in zip(ranges, bounds, strict=True))
    after = tuple(max(0, high + 1 - r.hi) for r, (_, high) in zip(ranges, bounds, strict=True))
    padding = None
    origins = [bound.lo for bound in ranges]
    if any(before) or any(after):
        first = [max(low, r.lo) for r, (low, _) in zip(ranges, bounds, strict=True)]
        stop = [min(high + 1, r.hi) for r, (_, high) in zip(ranges, bounds, strict=True)]
        starts = tuple(f - r.lo for f, r in zip(first, ranges, strict=True))
        lengths = tuple(s - f for f, s in zip(first, stop, strict=True))
        padding = Padding(starts, lengths, before, after, fill)
        origins = [low for low, _ in bounds]
    at_start = {position: bound.lo for position, bound in iterators}
    values = [affine.evaluate(row, at_start.__getitem__) for row in rows]
    return StridedPlan(
        tuple(position for position, _ in iterators),
        tuple(bound.extent for _, bound in iterators),
        tuple(
            tuple((d, row.coefficient(i)) for d, row in enumerate(rows) if row.coefficient(i))
            for i, _ in iterators
        ),
        tuple(value - origin for value, origin in zip(values, origins, strict=True)),
        tuple((low - o, high + 1 - low) for (low, high), o in zip(bounds, origins, strict=True)),
        padding,
    )


def pad(buffer: torch.Tensor, padding: Padding) -> torch.Tensor:
    """A copy of the part that is read, surrounded by fills, in the buffer's order of strides.

    Dimensions along which the buffer repeats (stride 0) and that need no fill keep repeating.
    """
    strides = buffer.stride()
    inner = buffer
    for d, (start, length) in enumerate(zip(padding.starts, padding.lengths, strict=True)):
        repeats = strides[d] == 0 and not padding.before[d] and not padding.after[d]
        inner = inner.narrow(d, start, 1 if repeats else length)
    shape = [length + padding.before[d] + padding.after[d] for d, length in enumerate(inner.shape)]
    order = sorted(range(len(shape)), key=lambda d: (-strides[d], d))
    result = buffer.new_empty([shape[d] for d in order])
    result = result.permute([order.index(d) for d in range(len(shape))])
    value = fill_value(padding.fill, buffer.dtype)
    target = result
    for d, length in enumerate(inner.shape):
        before, after = padding.before[d], padding.after[d]
        if before:
            target.narrow(d, 0, before).fill_(value)
        if after:
            target.narrow(d, before + length, after).fill_(value)
        target = target.narrow(d, before, length)
    target.copy_(inner)
    whole = [
        length + padding.before[d] + padding.after[d] for d, length in enumerate(padding.lengths)
    ]
    return result.expand(whole)


def fill_value(fill: Number, dtype: torch.dtype) -> float | int:
    """The fill as a scalar of the dtype, an infinity beyond its range; for integers an infinity is
    the extreme value.

    Raises BuildError for any other number that an integer or boolean buffer cannot hold.
    """
    if dtype.is_floating_point or dtype.is_complex:
        return real_scalar(fill, dtype)
    if isinstance(fill, Fraction):
        if holds(type_name(dtype), fill):
            return int(fill)
        raise BuildError(f"a buffer of {dtype} cannot be read with the fill {fill}")
    if dtype == torch.bool:
        return int(fill > 0)
    return torch.iinfo(dtype).max if fill > 0 else torch.iinfo(dtype).min
