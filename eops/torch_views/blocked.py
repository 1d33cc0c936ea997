"""Any stage: its body elementwise, in blocks whose temporaries stay small, each reduced at once.

Y[x] = reduce[y] f(x, y)      block by block of (x, y), the reductions combined
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

import torch

from einderive.eops.torch_views.scalar import Block, Buffers, Elementwise
from einderive.eops.torch_views.steps import align, combination, reduced, repeated
from einderive.eops.torch_views.types import StageTypes
from einderive.ta.ir.node import Access, Const, Scope
from einderive.ta.ir.subst import walk
from einderive.ta.traffic.walks import REDUCED_BLOCK

LARGEST_BLOCK: Final = 1 << 26
"""Elements of any temporary: 256 MB of float32.  What is not reduced gains nothing from smaller
blocks."""


def device_of(buffers: Buffers, read: Sequence[torch.Tensor]) -> torch.device:
    """The device of the stage's buffers; if it reads none, that of any other."""
    return next((b.device for b in (*read, *buffers.values())), torch.device("cpu"))


class BlockedStage:
    """The stage on its buffers, in the given types; iterators that do not occur in the body have no
    dimension."""

    def __init__(self, scope: Scope, body: Elementwise | None = None) -> None:
        self.rank, self.reducer = len(scope.loops), scope.reducer
        self.body = body or Elementwise(scope.body, scope.domain)
        dims = self.body.dims
        self.loops = tuple(i for i in dims if i < self.rank)
        self.sums = tuple(i for i in dims if i >= self.rank)
        self.extents = {i: scope.domain[i].extent for i in dims}
        self.repeats = prod(
            bound.extent for i, bound in enumerate(scope.domain) if i >= self.rank and i not in dims
        )
        self.reads = isinstance(scope.body, Access)
        operations = sum(1 for node in walk(scope.body) if not isinstance(node, Access | Const))
        self.one_pass = self.reads or (operations < 2 and not scope.sums)

    def __call__(self, buffers: Buffers, types: StageTypes) -> torch.Tensor:
        views = self.body.views(buffers, types.compute)
        device = device_of(buffers, views.read)
        converts = self.reads and self.sums and self.reducer == "sum"  # as it sums
        dtype = views.read[0].dtype if converts else types.compute
        out: torch.Tensor | None = None
        blocks = self._blocks(self.sizes(device))
        for block in blocks:
            value = self.body.run(views, dtype, device, block).tensor
            part = reduced(self.reducer, value, len(self.loops), types.compute)
            if len(blocks) == 1:
                out = part
                break
            if out is None:
                shape = [self.extents[i] for i in self.loops]
                out = torch.empty(shape, dtype=types.compute, device=device)
            self._store(out, part, block)
        assert out is not None  # there is at least one block
        out = repeated(self.reducer, out, self.repeats)
        return align(out, self.loops, tuple(range(self.rank))).to(types.result)

    def sizes(self, device: torch.device) -> Mapping[int, int]:
        """The extents of a block.  Leading iterators are cut first, so that what is contiguous
        stays whole."""
        sizes, total = dict(self.extents), self.body.extent
        limit = REDUCED_BLOCK if self.sums and device.type == "cpu" else LARGEST_BLOCK
        for i, extent in self.extents.items():
            if total <= limit or self.one_pass:
                break
            sizes[i] = max(1, limit * extent // total)
            total = total // extent * sizes[i]
        return sizes

    def _blocks(self, sizes: Mapping[int, int]) -> list[Block]:
        """Reductions come last and vary fastest; what is not cut is in no block."""
        parts = [
            [(i, start, min(sizes[i], extent - start)) for start in range(0, extent, sizes[i])]
            for i, extent in self.extents.items()
            if sizes[i] < extent
        ]
        return [{i: (start, size) for i, start, size in block} for block in product(*parts)]

    def _store(self, out: torch.Tensor, part: torch.Tensor, block: Block) -> None:
        for axis, i in enumerate(self.loops):
            if i in block:
                out = out.narrow(axis, *block[i])
        if all(block[i][0] == 0 for i in self.sums if i in block):
            out.copy_(part)
        else:
            combination(self.reducer)(out, part, out=out)
