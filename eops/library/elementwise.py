"""A scalar expression of plain reads, evaluated in whole passes over memory.

    Y[b] = f(A[b], B[b], ...)

Operands may lack some of the loops (they broadcast); masks on the loops are part of f.
"""

from __future__ import annotations

from typing import Literal

from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_plain, refuse_empty
from einderive.eops.library.traffic import output_bytes
from einderive.ta.ir import affine
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.operator import Binding, Mismatch, Work
from einderive.ta.ir.subst import accesses, applied
from einderive.ta.traffic.walks import dense_strides, nested, walks

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


def _access(binding: Binding) -> Literal["dense", "broadcast"]:
    """How the operands lie: some with fewer elements than the result, or all whole."""
    extents = binding.scope.extents
    if any(affine.volume(extents, read.free) < binding.scope.size for read in binding.operands):
        return "broadcast"
    return "dense"


def _work(binding: Binding) -> Work:
    scope = binding.scope
    found = walks(scope.body, scope.extents)
    count, item = max(1, found.calls), element_bytes(scope)
    return Work(
        float(count * scope.size),
        max(found.moved * item, output_bytes(scope)),
        count,
        access=_access(binding),
        functions=applied(scope.body, scope.extents),
        rows=found.rows,
        jumps=found.jumps,
        misses=found.misses,
        views=found.views,
        numbers=found.numbers,
        near=3.0 * max(found.most, scope.size) * item,
    )


def _stored(binding: Binding) -> tuple[int, ...]:
    """The result lies as its operands do."""
    reads = [dense_strides(read.source, read.rows) for read in binding.operands]
    return tuple(nested(range(len(binding.scope.loops)), reads))


ELEMENTWISE = operator("elementwise", work=_work, recognise=recognise, stored=_stored)
