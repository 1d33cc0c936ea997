"""Reads with `//` in their rows: a gather by index tensors, and a mask for the fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from einderive.eops.torch_views.strided import Iterators, StridedPlan, fill_value, plan_strided
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Number


class PerDevice:
    """A constant tensor, moved once to each device that asks for it."""

    __slots__ = ("_copies",)

    def __init__(self, tensor: torch.Tensor) -> None:
        self._copies = {tensor.device: tensor}

    def on(self, device: torch.device) -> torch.Tensor:
        found = self._copies.get(device)
        if found is None:
            found = next(iter(self._copies.values())).to(device)
            self._copies[device] = found
        return found


@dataclass(frozen=True, slots=True)
class GatherPlan:
    """`inner` reads the source with one leading dimension for each of `indices`; these pick from
    it, and `order` brings the dimensions into the order of the iterators."""

    present: tuple[int, ...]
    inner: StridedPlan
    indices: tuple[PerDevice, ...]
    mask: PerDevice | None
    fill: Number
    order: tuple[int, ...]

    def __call__(self, buffer: torch.Tensor) -> torch.Tensor:
        device = buffer.device
        result = self.inner(buffer)[tuple(index.on(device) for index in self.indices)]
        if self.mask is not None:
            result = result.masked_fill(self.mask.on(device), fill_value(self.fill, buffer.dtype))
        return result.permute(self.order)


def gather_view(
    ranges: Sequence[Range], rows: Sequence[Row], present: Iterators, fill: Number
) -> GatherPlan:
    """`source[rows]` where some rows hold `//`; the source has elements.

    Those dimensions, and all that share an iterator with them, are gathered; the others stay
    strided.
    """
    gathered, iterators = _entangled(rows)
    picked = [(i, bound) for i, bound in present if i in iterators]
    kept = [(i, bound) for i, bound in present if i not in iterators]
    base = 1 + max((i for i, _ in present), default=0)
    whole = [(base + d, ranges[d]) for d in gathered]
    inner_rows = [affine.iterator(base + d) if d in gathered else row for d, row in enumerate(rows)]
    inner = plan_strided(ranges, inner_rows, [*whole, *kept], fill)
    values = {
        i: torch.arange(*bound).reshape([-1 if p == axis else 1 for p in range(len(picked))])
        for axis, (i, bound) in enumerate(picked)
    }
    indices, mask = [], torch.zeros([1] * len(picked), dtype=torch.bool)
    for d in gathered:
        lo, hi = ranges[d]
        index = affine.evaluate(rows[d], values.__getitem__)
        mask = mask | (index < lo) | (index >= hi)
        indices.append(PerDevice(index.clamp(lo, hi - 1) - lo))
    mask = mask.reshape(mask.shape + (1,) * len(kept))
    order = [i for i, _ in picked] + [i for i, _ in kept]
    positions = tuple(i for i, _ in present)
    return GatherPlan(
        positions,
        inner,
        tuple(indices),
        PerDevice(mask) if bool(mask.any()) else None,
        fill,
        tuple(order.index(i) for i in positions),
    )


def _entangled(rows: Sequence[Row]) -> tuple[list[int], set[int]]:
    """The dimensions whose rows hold `//` or share iterators with such, and their iterators."""
    gathered = {d for d, row in enumerate(rows) if row.floors}
    while True:
        iterators = set().union(*(affine.iterators(rows[d]) for d in gathered))
        more = {d for d, row in enumerate(rows) if affine.iterators(row) & iterators}
        if more <= gathered:
            return sorted(gathered), iterators
        gathered |= more
