"""Sliding windows as shifted slices, one per tap.

    Y[h] = S[r] A[h+r-1] * K[r]:     Y[1:] += A[:-1]*K[0];   Y += A*K[1];   Y[:-1] += A[1:]*K[2]

Slices that miss the source contribute the reduction's identity and are cut off, so nothing is
padded; every pass runs along the loops, where the memory is contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import torch

from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.steps import combination
from einderive.eops.torch_views.strided import fill_value
from einderive.eops.torch_views.types import StageTypes
from einderive.eops.torch_views.views import ViewPlan, plan_view
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Number, Scope
from einderive.ta.traffic.window_taps import BLOCK, tapped


class Tap(NamedTuple):
    """The part of each loop that meets the sources, as (start, length), and a read per factor."""

    box: tuple[tuple[int, int], ...]
    plans: tuple[ViewPlan, ...]


class TapStage:
    """A reduction of one or two reads over few taps; make it with `tap_stage`."""

    def __init__(self, scope: Scope, coefficient: Number, factors: tuple[Access, ...]) -> None:
        self.shape, self.reducer = scope.shape, scope.reducer
        self.coefficient, self.factors = coefficient, factors
        self.taps = tuple(
            tap
            for point in product(*(range(*bound) for bound in scope.sums))
            if (tap := _tap(scope, factors, point)) is not None
        )

    def __call__(self, buffers: Buffers, types: StageTypes) -> torch.Tensor:
        sources = [buffers[factor.source] for factor in self.factors]
        reads = [[plan(b) for plan, b in zip(t.plans, sources, strict=True)] for t in self.taps]
        out = self._empty(reads, types, sources[0].device)
        for axis, start, length in _blocks(self.shape):
            part = out.narrow(axis, start, length)
            part.fill_(fill_value(REDUCERS[self.reducer].identity, types.compute))
            for tap, views in zip(self.taps, reads, strict=True):
                self._add(part, tap, views, (axis, start, length))
            if self.coefficient != 1:
                part.mul_(fill_value(self.coefficient, types.compute))
        return out.to(types.result)

    def _empty(
        self, reads: Sequence[Sequence[torch.Tensor]], types: StageTypes, device: torch.device
    ) -> torch.Tensor:
        """The result with its dimensions in the order of strides of the first read."""
        strides = dict.fromkeys(range(len(self.shape)), 0)
        if reads:
            strides |= dict(zip(self.taps[0].plans[0].present, reads[0][0].stride(), strict=True))
        order = sorted(strides, key=lambda axis: (-strides[axis], axis))
        out = torch.empty([self.shape[a] for a in order], dtype=types.compute, device=device)
        return out.permute([order.index(axis) for axis in range(len(self.shape))])

    def _add(
        self,
        part: torch.Tensor,
        tap: Tap,
        views: Sequence[torch.Tensor],
        block: tuple[int, int, int],
    ) -> None:
        """Combines the tap into the block of the result."""
        cut, first, length = block
        skipped = 0
        for axis, (start, extent) in enumerate(tap.box):
            if axis == cut:
                low, high = max(start, first), min(start + extent, first + length)
                if low >= high:
                    return
                part = part.narrow(axis, low - first, high - low)
                skipped, extent = low - start, high - low
            else:
                part = part.narrow(axis, start, extent)
        operands = []
        for plan, view in zip(tap.plans, views, strict=True):
            if cut in plan.present:
                view = view.narrow(plan.present.index(cut), skipped, part.shape[cut])
            shape = [slice(None) if a in plan.present else None for a in range(len(tap.box))]
            operands.append(view[tuple(shape)])
        if len(operands) == 2:
            part.addcmul_(*(operand.to(part.dtype) for operand in operands))
        else:
            combination(self.reducer)(part, operands[0].to(part.dtype), out=part)


def tap_stage(scope: Scope) -> TapStage | None:
    """The stage as a sum over taps.  None if that does not apply or does not pay."""
    reads = tapped(scope)
    return None if reads is None else TapStage(scope, split_coefficient(scope.body)[0], reads)


def _tap(scope: Scope, factors: Sequence[Access], point: Sequence[int]) -> Tap | None:
    """The tap at one point of the sums, or None where it misses a source everywhere."""
    first = len(scope.loops)
    fixed = {i: affine.iterator(i) for i in range(first)}
    fixed |= {first + s: affine.constant(value) for s, value in enumerate(point)}
    rows = [[affine.substitute(row, fixed) for row in factor.rows] for factor in factors]
    box = list(scope.loops)
    for factor, lines in zip(factors, rows, strict=True):
        for row, (lo, hi) in zip(lines, factor.source.ranges, strict=True):
            if not row.terms:
                if not lo <= row.const < hi:
                    return None
                continue
            ((i, a),) = row.terms  # lo <= const + a*x < hi
            low, high = -((row.const - lo) // a), -((row.const - hi) // a)
            box[i] = Range(max(box[i].lo, low), min(box[i].hi, high))
    if any(bound.extent == 0 for bound in box):
        return None
    iterators = list(enumerate(box))
    return Tap(
        tuple((b.lo - loop.lo, b.extent) for b, loop in zip(box, scope.loops, strict=True)),
        tuple(
            plan_view(factor.source.ranges, lines, iterators, factor.fill)
            for factor, lines in zip(factors, rows, strict=True)
        ),
    )


def _blocks(shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """(axis, start, size): the first axis longer than 1, in parts of about BLOCK outputs."""
    axis = next((a for a, extent in enumerate(shape) if extent > 1), 0)
    step = max(1, BLOCK * shape[axis] // prod(shape))
    return [(axis, start, min(step, shape[axis] - start)) for start in range(0, shape[axis], step)]
