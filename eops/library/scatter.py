"""Sums of groups: `torch.index_add`.

Y[s,v,b] = sum[n](where(I[s,n] == v, A[s,n,b], 0))       Y[I[n],b] += A[n,b]
"""

from __future__ import annotations

from einderive.eops.library.gather import NOT_HELD, NOT_READS, access_of, all_held
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import refuse_empty
from einderive.eops.library.traffic import output_bytes
from einderive.ta.exact.scattered import Scattered, scattered
from einderive.ta.ir import affine
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Mismatch, Work
from einderive.ta.ir.positions import is_data

NO_SCATTER = Mismatch("body", "no equality with data says where terms go", (), 100.0)


def one_place(scope: Scope) -> Scattered | None:
    """The place to which the terms of a sum go, if one equality decides it."""
    found = scattered(scope) if scope.reducer == "sum" else None
    return found if found is not None and len(found.places) == 1 else None


def roles_of(scope: Scope, found: Scattered) -> dict[str, tuple[int, ...]]:
    ((v, index),) = found.places.items()
    loops = (1 << len(scope.loops)) - 1
    return {
        "s": affine.bits(index.free & loops),
        "n": affine.bits(index.free & ~loops),
        "v": (v,),
        "b": affine.bits(found.body.free & loops & ~index.free),
    }


def recognise(scope: Scope) -> Binding | Mismatch:
    found = one_place(scope)
    if found is None:
        return NO_SCATTER
    if (empty := refuse_empty(scope)) is not None:
        return empty
    (index,), value = found.places.values(), found.body
    if not is_data(index) or not is_data(value):
        return NOT_READS
    roles = roles_of(scope, found)
    return Binding(scope, (index, value), roles) if all_held(scope, roles) else NOT_HELD


def work(binding: Binding) -> Work:
    """The work: values and indices are read once, and each addition reads and writes an element."""
    scope = binding.scope
    points = binding.extent("s") * binding.extent("n") * binding.extent("b")
    read = sum(
        affine.volume(scope.extents, operand.free) * element_bytes(operand.source)
        for operand in binding.operands
    )
    moved = output_bytes(scope) + read + 2.0 * points * element_bytes(scope)
    return Work(float(points), moved, access=access_of(binding))


SCATTER = operator("scatter", work=work, recognise=recognise)
