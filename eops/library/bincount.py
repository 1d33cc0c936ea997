"""The number of occurrences of each index: `torch.bincount`.

Y[s,v] = sum[n](I[s,n] == v)       Y[I[n]] += 1
"""

from __future__ import annotations

from einderive.eops.library.gather import NOT_HELD, NOT_READS, all_held
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import refuse_empty
from einderive.eops.library.scatter import one_place, roles_of, work
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Mismatch
from einderive.ta.ir.positions import is_data

NO_COUNT = Mismatch("body", "no sum of an equality with data", (), 100.0)


def recognise(scope: Scope) -> Binding | Mismatch:
    found = one_place(scope)
    if found is None or found.body is not expr.const(1):
        return NO_COUNT
    if (empty := refuse_empty(scope)) is not None:
        return empty
    (index,) = found.places.values()
    if not is_data(index):
        return NOT_READS
    roles = roles_of(scope, found)
    del roles["b"]
    return Binding(scope, (index,), roles) if all_held(scope, roles) else NOT_HELD


BINCOUNT = operator("bincount", work=work, recognise=recognise)
