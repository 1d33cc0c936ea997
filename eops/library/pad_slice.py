"""A read that leaves its source, as a padded copy of the part that it reads.

Y[b] = A[rows(b)]                                 outside A: its fill
"""

from __future__ import annotations

from einderive.eops.library.operators import operator
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.library.view import single_read
from einderive.ta.ir import affine
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Mismatch, Work
from einderive.ta.traffic.walks import padded_copies


def recognise(scope: Scope) -> Binding | Mismatch:
    read = single_read(scope)
    if isinstance(read, Mismatch):
        return read
    if affine.within(read.rows, read.source.ranges, scope.domain):
        return Mismatch("body", "the read stays within its source: it is a view", (), 1.0)
    return Binding(scope, (read,), {"b": tuple(range(len(scope.loops)))})


def _work(binding: Binding) -> Work:
    (read,) = binding.operands
    bounds = binding.scope.domain
    moved = output_bytes(binding.scope) + read_bytes(read, read.rows, bounds)
    pads = padded_copies(read.rows, read.source.ranges, bounds)
    return Work(0.0, moved, pads=pads - 1)  # a launch has one


PAD_SLICE = operator("pad_slice", work=_work, recognise=recognise)
