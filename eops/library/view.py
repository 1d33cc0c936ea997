"""A read that is a view of its source's memory.

    Y[b] = A[rows(b)]

Rows are affine and stay within the source: permuted, strided, overlapping, diagonal and expanded
views are free.  An iterator that runs backwards through the memory costs a copy.
"""

from __future__ import annotations

from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_affine, refuse_empty
from einderive.eops.library.traffic import output_bytes
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.operator import Binding, Mismatch, Work
from einderive.ta.traffic.walks import dense_strides

REDUCES = Mismatch("reducer", "the scope reduces", (), 100.0)
NOT_ONE_READ = Mismatch("body", "the body is not a single read", ("merge-stage",), 100.0)


def single_read(scope: Scope) -> Access | Mismatch:
    """The scope's body, where that is one read with affine rows and nothing is reduced."""
    if scope.sums:
        return REDUCES
    if (empty := refuse_empty(scope)) is not None:
        return empty
    if not isinstance(scope.body, Access):
        return NOT_ONE_READ
    if not is_affine(scope.body):
        return Mismatch("compound", "an index with // is not a view", ("split-iterator",), 1.0)
    return scope.body


def recognise(scope: Scope) -> Binding | Mismatch:
    read = single_read(scope)
    if isinstance(read, Mismatch):
        return read
    if not affine.within(read.rows, read.source.ranges, scope.domain):
        return Mismatch("compound", "the read leaves its source", ("tighten",), 1.0)
    return Binding(scope, (read,), {"b": tuple(range(len(scope.loops)))})


def _work(binding: Binding) -> Work:
    (read,) = binding.operands
    if min(dense_strides(read.source, read.rows).values(), default=0) < 0:
        return Work(0.0, 2 * output_bytes(binding.scope))
    return Work(0.0, 0.0, 0)


VIEW = operator("view", work=_work, recognise=recognise)
