"""The index of the least or greatest number along a dimension: `torch.argmin`, `torch.argmax`.

    Y[s] = argmin[n](A[s,n])  =  min[n](where(A[s,n] == min[m](A[s,m]) or isnan(A[s,n]), n, 2^53))

The extreme is a scope nested in the one that is bound, and is not computed: `launch` reads A alone.
Of equal numbers the first counts, and a NaN counts as the extreme, in torch as in the notation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_plain, refuse_empty
from einderive.eops.library.reduction import ROW_REPAIRS
from einderive.eops.library.softmax import reduced_over
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.steps import align
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Reducer, Scope
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Work
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, substitute

NO_INDEX = 1 << 53
"""Stands for no index in the definition."""
NOT_AN_INDEX = Mismatch("body", "not the first index of an extreme", (), 100.0)
COMPARED = 4.0
"""Torch takes about this many times as long for an element as a sum does."""


def definition(scope: Scope, read: Access, reducer: Reducer) -> Node:
    """The body as the notation writes it out for the read."""
    k = len(scope.loops)
    index = expr.access(INDEX, [affine.iterator(k)])
    otherwise = expr.apply("choose", expr.apply("isnan", read), index, expr.const(NO_INDEX))
    extreme = reduced_over(scope, read, k, reducer)
    return expr.apply("choose", expr.apply("equal", extreme, read), index, otherwise)


def recognise(reducer: Reducer, scope: Scope) -> Binding | Mismatch:
    k, body = len(scope.loops), scope.body
    if scope.reducer != "min" or len(scope.sums) != 1:
        return NOT_AN_INDEX
    read = next((a for a in accesses(body) if a.free >> k & 1), None)
    if read is None or definition(scope, read, reducer) is not body:
        return NOT_AN_INDEX
    if (empty := refuse_empty(scope)) is not None:
        return empty
    if scope.sums[0].lo or not is_plain(read, scope.domain):
        return Mismatch("compound", "the read is not at lone iterators in range", ROW_REPAIRS)
    return Binding(scope, (read,), {"s": tuple(range(k)), "n": (k,)})


def _launch(call: Callable[[torch.Tensor, int], torch.Tensor], binding: Binding) -> Launch:
    scope, (read,) = binding.scope, binding.operands
    k = len(scope.loops)
    held = tuple(i for i in range(k) if read.free >> i & 1)
    rows = {i: affine.iterator(place) for place, i in enumerate((*held, k))}
    loops = [scope.domain[i] for i in (*held, k)]
    data = lower(make_scope(loops, (), substitute(read, rows)))

    @torch.no_grad()
    def launch(buffers: Buffers) -> torch.Tensor:
        x = data(buffers)
        found = call(x.to(torch.uint8) if x.dtype == torch.bool else x, -1)
        return align(found, held, tuple(range(k))).expand(scope.shape)

    return launch


def _work(binding: Binding) -> Work:
    (read,) = binding.operands
    moved = output_bytes(binding.scope) + read_bytes(read, read.rows, binding.scope.domain)
    kept, compared = binding.extent("s"), binding.extent("n")
    return Work(COMPARED * kept * compared, moved, 1, "reduction", shape=(kept, compared))


ARGMIN, ARGMAX = (
    operator(
        f"arg{reducer}",
        work=_work,
        launch=partial(_launch, getattr(torch, f"arg{reducer}")),
        recognise=partial(recognise, reducer),
    )
    for reducer in ("min", "max")
)
