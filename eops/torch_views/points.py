"""A stage at some of its points, as written.

    Y[g, o]  for the listed values of the loops g and all values of the others:
    each read is a view with a dimension for each iterator; the listed points are picked from those
    of g, and what is left is a stage over (p, o), p counting the points

The points are taken in parts of a fixed size, so that memory is bounded and each size is prepared
once; the last part is filled up with its last point.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import torch

from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import Stage, lower
from einderive.eops.torch_views.views import plan_reads
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Access, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import accesses, rebuild

LARGEST: Final = {"cpu": 1 << 19, "cuda": 1 << 24}
"""Elements of a part: the number of points times the elements for each.  On a CPU they stay in the
cache.  100 000 of the squared distances of 1024 x 1024 x 128 take 63 ms, in parts of 2^22 elements
130 ms."""
SMALLEST: Final = 64
"""Points of the smallest part."""
STEP: Final = 16
"""Each size of a part is this many times the next smaller one."""


class Points:
    """`Points(scope, listed)(buffers, indices)`: the stage's values, points first, then the loops
    that are not `listed`, rising.  An index counts from 0 within its loop's range."""

    def __init__(self, scope: Scope, listed: Sequence[int]) -> None:
        self.scope, self.listed = scope, tuple(listed)
        self.others = tuple(i for i in range(len(scope.loops)) if i not in listed)
        self.reads = accesses(scope.body)
        self.plans = plan_reads(self.reads, scope.domain)
        self.each = prod(scope.extents[i] for i in range(len(scope.domain)) if i not in listed)
        self._prepared: dict[int, tuple[Stage, tuple[Tensor, ...]]] = {}

    def __call__(self, buffers: Buffers, indices: Sequence[torch.Tensor]) -> torch.Tensor:
        views = [plan(buffers[a.source]) for a, plan in zip(self.reads, self.plans, strict=True)]
        count = int(indices[0].numel())
        size = self.size(count, views[0].device.type)
        compute, tensors = self._stage(size, views[0].dtype)
        parts = []
        for start in range(0, count, size):
            part = [index[start : start + size] for index in indices]
            given = part[0].numel()
            if given < size:
                part = [torch.cat([i, i[-1:].expand(size - given)]) for i in part]
            picked: dict[Source, torch.Tensor] = {
                tensor: self._picked(view, plan.present, part)
                for tensor, view, plan in zip(tensors, views, self.plans, strict=True)
            }
            parts.append(compute(picked)[:given])
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def size(self, count: int, device: str) -> int:
        """The points of a part where there are this many in all."""
        most = max(SMALLEST, LARGEST[device] // max(1, self.each))
        size = SMALLEST
        while size < min(count, most):
            size *= STEP
        return min(size, most)

    def _picked(
        self, view: torch.Tensor, present: Sequence[int], part: Sequence[torch.Tensor]
    ) -> torch.Tensor:
        """The view with one dimension of points in the place of the listed ones."""
        held = [(axis, self.listed.index(i)) for axis, i in enumerate(present) if i in self.listed]
        if not held:
            return view
        rest = [axis for axis in range(view.dim()) if axis not in dict(held)]
        moved = view.permute([axis for axis, _ in held] + rest)
        if len(held) == 1:
            return moved.index_select(0, part[held[0][1]])
        return moved[tuple(part[place] for _, place in held)]

    def _stage(self, size: int, dtype: torch.dtype) -> tuple[Stage, tuple[Tensor, ...]]:
        """The stage over this many points, and a tensor for each read."""
        found = self._prepared.get(size)
        if found is None:
            found = self._prepared[size] = self._prepare(size, type_name(dtype))
        return found

    def _prepare(self, size: int, dtype: str) -> tuple[Stage, tuple[Tensor, ...]]:
        scope, first = self.scope, len(self.scope.loops)
        place = {i: 1 + number for number, i in enumerate(self.others)}
        place |= {i: 1 + len(self.others) + i - first for i in range(first, len(scope.domain))}
        tensors: dict[Access, Tensor] = {}
        new: dict[Access, Node] = {}
        for number, (read, plan) in enumerate(zip(self.reads, self.plans, strict=True)):
            rest = [i for i in plan.present if i not in self.listed]
            shape = [scope.extents[i] for i in rest]
            rows = [affine.shift(affine.iterator(place[i]), -scope.domain[i].lo) for i in rest]
            if len(rest) < len(plan.present):
                shape, rows = [size, *shape], [affine.iterator(0), *rows]
            tensors[read] = expr.tensor(f"R{number}", shape, dtype)
            new[read] = expr.access(tensors[read], rows)
        body = rebuild(scope.body, new.__getitem__)
        loops = [Range(0, size), *(scope.loops[i] for i in self.others)]
        stage = lower(make_scope(loops, scope.sums, body, scope.reducer))
        return stage, tuple(tensors[read] for read in self.reads)
