"""Gated linear units: one half of a tensor times the sigmoid of the other.

X[i,j] * sigmoid(X[i,j+n])      F.glu(X, 1)     X of extent 2*n along this dimension
"""

from __future__ import annotations

from einderive.frontend.baselines.writing.views import View, permuted
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Apply, Mul, Scope


def recognise(scope: Scope, writer: Writer) -> Written | None:
    body = scope.body
    if scope.sums or scope.empty or not isinstance(body, Mul) or len(body.factors) != 2:
        return None
    for values, gate in (body.factors, body.factors[::-1]):
        if not isinstance(values, Access) or not isinstance(gate, Apply):
            continue
        if gate.function != "sigmoid" or not isinstance(gate.args[0], Access):
            continue
        found = _halves(values, gate.args[0], scope)
        if found is not None:
            dims, halved = found
            text = f"F.glu({writer.name(values.source)}, {halved})"
            return Written(permuted(View(text, dims), range(len(scope.loops))), "glu")
    return None


def _halves(first: Access, second: Access, scope: Scope) -> tuple[tuple[int, ...], int] | None:
    """The iterator of each dimension and the dimension that is halved, where the reads are of the
    two halves of one tensor."""
    dims = tuple(row.lone for row in first.rows if row.lone is not None)
    if first.source is not second.source or sorted(dims) != [*range(len(scope.loops))]:
        return None
    halved = []
    for d, (i, bound) in enumerate(zip(dims, first.source.ranges, strict=True)):
        loop, row, other = scope.loops[i], first.rows[d], second.rows[d]
        if row == other and loop == bound:
            continue
        whole = Range(loop.lo, loop.lo + 2 * loop.extent)
        if other != affine.shift(row, loop.extent) or bound != whole:
            return None
        halved.append(d)
    return (dims, halved[0]) if len(halved) == 1 else None


GATED = Recogniser(recognise)
