"""Tensors side by side along one dimension.

    Y[b,i] = where(i < n, A[b,i], B[b,i-n])           and so on for more than two

Every part is an affine read, and is computed on its own range of the loop i only.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_affine, refuse_empty
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import types_of
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Select
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Work
from einderive.ta.traffic.walks import dense_strides, padded_copies


class Part(NamedTuple):
    """The read that gives Y over `bound` of the loop."""

    bound: Range
    read: Access


NO_CHOICE = Mismatch("body", "the body does not choose between reads", (), 100.0)


def recognise(scope: Scope) -> Binding | Mismatch:
    found = _parts(scope)
    if isinstance(found, Mismatch):
        return found
    loop, parts = found
    others = tuple(i for i in range(len(scope.loops)) if i != loop)
    return Binding(scope, tuple(part.read for part in parts), {"b": others, "i": (loop,)})


def _parts(scope: Scope) -> tuple[int, list[Part]] | Mismatch:
    """The loop that is cut, and the parts by rising range."""
    if scope.sums or not isinstance(scope.body, Select):
        return NO_CHOICE
    if (empty := refuse_empty(scope)) is not None:
        return empty
    loops = {i for i, _ in scope.body.conditions[0].row.terms}
    if len(loops) == 1:
        (loop,) = loops
        parts = _cut(scope.body, loop, scope.loops[loop])
        if parts is not None:
            return loop, sorted(parts)
    return Mismatch("body", "the choice is not between ranges of one loop", (), 100.0)


def _cut(node: Node, loop: int, bound: Range) -> list[Part] | None:
    """The parts of an expression over a range of the loop, or None where it is no choice of reads
    by that loop."""
    if bound.extent == 0:
        return []
    if isinstance(node, Access):
        return [Part(bound, node)] if is_affine(node) else None
    if not isinstance(node, Select) or len(node.conditions) != 1:
        return None
    relation, row = node.conditions[0]
    if relation != ">=" or row.floors or [i for i, _ in row.terms] != [loop]:
        return None
    ((_, a),) = row.terms
    if a > 0:  # a*i + c >= 0 from i = ceil(-c/a) on
        cut = min(max(-(row.const // a), bound.lo), bound.hi)
        above, below = node.then, node.otherwise
    else:  # ... up to i = floor(c/-a)
        cut = min(max(row.const // -a + 1, bound.lo), bound.hi)
        above, below = node.otherwise, node.then
    first = _cut(below, loop, Range(bound.lo, cut))
    second = _cut(above, loop, Range(cut, bound.hi))
    return None if first is None or second is None else first + second


def _pieces(binding: Binding) -> tuple[int, list[Scope]]:
    """The loop that is cut, and the scope of each part, in the order of the operands."""
    found = _parts(binding.scope)
    assert not isinstance(found, Mismatch)  # the binding comes from `recognise`
    loop, parts = found
    before, after = binding.scope.loops[:loop], binding.scope.loops[loop + 1 :]
    return loop, [make_scope((*before, p.bound, *after), (), p.read) for p in parts]


def _launch(binding: Binding) -> Launch:
    types = types_of(binding.scope)
    loop, found = _pieces(binding)
    pieces = list(map(lower, found))

    @torch.no_grad()
    def launch(buffers: Buffers) -> torch.Tensor:
        dtype = types(buffers).result
        return torch.cat([piece(buffers).to(dtype) for piece in pieces], dim=loop)

    return launch


def _work(binding: Binding) -> Work:
    _, pieces = _pieces(binding)
    reads = zip(binding.operands, pieces, strict=True)
    moved = jumps = pads = 0.0
    for read, piece in reads:
        moved += read_bytes(read, read.rows, piece.domain)
        pads += padded_copies(read.rows, read.source.ranges, piece.domain)
        inner = max((i for i, extent in enumerate(piece.extents) if extent > 1), default=0)
        jumps += piece.size * (abs(dense_strides(read.source, read.rows).get(inner, 0)) > 1)
    return Work(0.0, output_bytes(binding.scope) + moved, jumps=jumps, pads=pads)


CONCAT = operator("concat", work=_work, launch=_launch, recognise=recognise)
