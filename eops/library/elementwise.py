"""A scalar expression of plain reads, evaluated in whole passes over memory.

    Y[b] = f(A[b], B[b], ...)

Operands may lack some of the loops (they broadcast); masks on the loops are part of f.
"""

from __future__ import annotations

from typing import Literal

from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_plain, refuse_empty
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.ta.facts.memory_walks import broadcast_rows, dense_strides
from einderive.ta.ir import affine
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Access, Add, Const, Mul, Scope
from einderive.ta.ir.operator import Binding, Mismatch, Work
from einderive.ta.ir.subst import accesses, applied, children, walk

REDUCES = Mismatch("reducer", "the scope reduces", (), 100.0)


def recognise(scope: Scope) -> Binding | Mismatch:
    if scope.sums:
        return REDUCES
    if (empty := refuse_empty(scope)) is not None:
        return empty
    if isinstance(scope.body, Access):
        return Mismatch("body", "a single read is a view or a copy", ("merge-stage",), 100.0)
    reads = accesses(scope.body)
    for read in reads:
        if not is_plain(read, scope.domain):
            detail = "a read is not at lone iterators in range"
            return Mismatch("compound", detail, ("shift", "skew", "materialise"))
    return Binding(scope, reads, {"b": tuple(range(len(scope.loops)))})


def passes(scope: Scope) -> int:
    """The library calls that evaluate the body one operation after the other."""
    count = 0
    for node in walk(scope.body):
        if isinstance(node, Add | Mul):
            count += len(children(node)) - 1
        elif not isinstance(node, Access | Const):
            count += 1
    return max(1, count)


def _access(binding: Binding) -> Literal["dense", "strided", "broadcast"]:
    """How the operands lie: some without an innermost loop of steps of one, some with fewer
    elements than the result."""
    extents = binding.scope.extents
    last = max((i for i, extent in enumerate(extents) if extent > 1), default=0)
    for read in binding.operands:
        if dense_strides(read.source, read.rows).get(last, 0) not in (-1, 0, 1):
            return "strided"
    if any(affine.volume(extents, read.free) < binding.scope.size for read in binding.operands):
        return "broadcast"
    return "dense"


def _work(binding: Binding) -> Work:
    """Every operation but the last writes a temporary, and the next one reads it."""
    scope = binding.scope
    calls, elements = passes(scope), scope.size
    bounds = scope.domain
    moved = output_bytes(scope) + sum(read_bytes(r, r.rows, bounds) for r in binding.operands)
    moved += 2.0 * (calls - 1) * elements * element_bytes(scope)
    return Work(
        float(calls * elements),
        moved,
        calls,
        access=_access(binding),
        functions=applied(scope.body, scope.extents),
        rows=broadcast_rows(scope.body, scope.extents),
    )


ELEMENTWISE = operator("elementwise", work=_work, recognise=recognise)
