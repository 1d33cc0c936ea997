"""Rows of a table at indices that are data: `torch.index_select`.

Y[s,n,b] = sum[v](where(I[s,n] == v, E[s,v,b], 0))       Y[n,b] = E[I[n],b], and 0 outside
"""

from __future__ import annotations

from typing import Final, Literal

from einderive.eops.library.operators import operator
from einderive.eops.library.plain import refuse_empty
from einderive.eops.library.traffic import output_bytes
from einderive.ta.exact.one_term import one_term
from einderive.ta.ir.affine import bits
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Mismatch, Work
from einderive.ta.ir.positions import is_data

NO_GATHER = Mismatch("body", "no equality with data leaves one term of a sum", (), 100.0)
NOT_READS = Mismatch("body", "the index or the value is not a read", ("materialise",), 2.0)
NOT_HELD = Mismatch("iterators", "a loop is held by neither the index nor the value", ("hoist",))


ROW: Final = 16
"""Elements that lie beside each other, from which on they count as a row."""


def recognise(scope: Scope) -> Binding | Mismatch:
    found = one_term(scope) if len(scope.sums) == 1 and scope.reducer == "sum" else None
    if found is None:
        return NO_GATHER
    if (empty := refuse_empty(scope)) is not None:
        return empty
    ((v, index),) = found.values.items()
    value = found.body
    if not is_data(index) or not is_data(value):
        return NOT_READS
    roles = {
        "s": bits(index.free & value.free),
        "n": bits(index.free & ~value.free),
        "v": (v,),
        "b": bits(value.free & ~index.free & ~(1 << v)),
    }
    if not all_held(scope, roles):
        return NOT_HELD
    return Binding(scope, (index, value), roles)


def all_held(scope: Scope, roles: dict[str, tuple[int, ...]]) -> bool:
    """Whether each iterator of more than one value plays a role."""
    held = {i for role in roles.values() for i in role}
    return all(extent == 1 or i in held for i, extent in enumerate(scope.extents))


def _work(binding: Binding) -> Work:
    index, value = binding.operands
    picked = binding.scope.size * element_bytes(value.source)
    indices = binding.extent("s") * binding.extent("n") * element_bytes(index.source)
    moved = output_bytes(binding.scope) + picked + indices
    copied = 0.0
    if binding.roles["s"]:  # the loops that both have become rows of the table
        copied = 2.0 * value.source.size * element_bytes(value.source)
    work = Work(float(binding.scope.size), moved, access=access_of(binding))
    return work._replace(bytes_copied=copied)


def access_of(binding: Binding) -> Literal["gathered", "rows"]:
    """Whether single elements are picked, or rows of some."""
    return "rows" if binding.extent("b") >= ROW else "gathered"


GATHER = operator("gather", work=_work, recognise=recognise)
