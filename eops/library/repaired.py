"""A sum of products of differences, multiplied out, and repaired where that loses digits.

    Y[b] = sum[k](f(A[b,k]))         for example   sum[k]((A[i,k] - B[j,k])^2)

`eops.expanded` multiplies out the centred differences, and gives a bound U of the terms: sum of
|terms| <= 2^(n-1) * U.  If |Y| >= 2^(n-1)*U/6, the terms' rounding errors are at most 6 times those
of Y.  If |Y| is smaller, or Y or U is NaN or infinite, Y is computed again as written.  If this
concerns more than a quarter of Y, all of Y is computed again.

A sum whose terms have either sign can be near 0 as written too.  For such a sum, |Y| and U are the
largest over the loops that the differences lack.  The data decide in each call: hard data cost
time, and keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Final

import torch

from einderive.eops.expanded import Expanded, Product, expanded, product_of
from einderive.eops.library.arrange import library_call
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_plain
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.points import Points
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import HALVES
from einderive.ta.facts.pairs import contraction_order
from einderive.ta.ir.element import element_bytes, floating_inputs
from einderive.ta.ir.node import Mul, Scope, Source
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Work
from einderive.ta.ir.subst import accesses, nested_scopes, sources, stages, walk

AMPLIFIED: Final = 6
"""The errors of a sum's terms may be at most this many times those of the sum.  For squared
distances, a result below a third of |a|^2 + |b|^2 is computed again."""
MOST_REPAIRED: Final = 0.25
"""If more than this share of the points has to be computed again, all are: it costs as much."""

OTHER = Mismatch("body", "the body is not a product with a difference of two reads", (), 100.0)
WINDOWED = Mismatch("compound", "a read is not at lone iterators in range", (), 100.0)
WHOLE = Mismatch("constraint", "not all inputs are of floating types", (), 100.0)


def recognise(scope: Scope) -> Binding | Mismatch:
    found = product_of(scope)
    if found is None or (found.degree == 1 and not found.plain):
        return OTHER
    reads = accesses(scope.body)
    if not all(is_plain(read, scope.domain) for read in reads):
        return WINDOWED
    if not floating_inputs(scope):
        return WHOLE
    first = len(scope.loops)
    roles = {"b": tuple(range(first)), "k": tuple(range(first, len(scope.domain)))}
    return Binding(scope, reads, roles)


@lru_cache(maxsize=1 << 12)
def _expanded(scope: Scope) -> Expanded:
    """Multiplied out, with 2^(n-1) * U / 6 as the bound.  One side of each difference has a mean:
    it is over an iterator that the other one is not over."""
    product = product_of(scope)
    assert product is not None
    found = expanded(scope, Fraction(2 ** (product.degree - 1), AMPLIFIED))
    assert found is not None
    return found


def _own(scope: Scope, found: Expanded) -> tuple[Scope, ...]:
    """The stages of the program multiplied out, up to what the scope itself reads.  What lies
    behind that is not there any more when the scope is computed."""
    return stages(found.fast, found.bound, known=nested_scopes(scope))


def _launch(binding: Binding) -> Launch:
    scope = binding.scope
    found, product = _expanded(scope), product_of(scope)
    assert product is not None
    steps = [(stage, lower(stage)) for stage in _own(scope, found)]
    read = sources(scope.body)
    repair = _repair(scope, product, read)

    def call(buffers: Buffers, dtype: torch.dtype) -> torch.Tensor:
        wide = torch.float32 if dtype in HALVES else dtype
        known: dict[Source, torch.Tensor] = {s: buffers[s].to(wide) for s in read}
        given = [known[source] for source in read]
        for stage, compute in steps:
            known[stage] = compute(known)
        return repair(known[found.fast], known[found.bound], *given).to(dtype)

    return library_call(scope, call)


def _repair(
    scope: Scope, product: Product, sources: Sequence[Source]
) -> Callable[..., torch.Tensor]:
    """Y, from Y multiplied out, U and the buffers.  A recording takes this as one call."""
    written = lower(scope)
    first = len(scope.loops)
    alone = [] if product.not_negative else [i for i in range(first) if not product.held >> i & 1]
    listed = [i for i in range(first) if i not in alone]
    points = Points(scope, listed)
    places = prod(scope.extents[i] for i in listed)

    @opaque
    @torch.no_grad()
    def repair(fast: torch.Tensor, bound: torch.Tensor, *given: torch.Tensor) -> torch.Tensor:
        """`bound` is overwritten, where its elements are memory of their own."""
        size = fast if product.not_negative and product.coefficient > 0 else fast.abs()
        if alone:
            size, bound = size.amax(alone), bound.amax(alone)
        short = torch.sub(bound, size, out=bound if bound.is_contiguous() else None)
        least, most = torch.aminmax(short)  # a NaN anywhere gives NaN
        if bool((most <= 0) & (least > -torch.inf)):
            return fast
        doubtful = ((short <= 0) & (short > -torch.inf)).logical_not_()
        count = int(doubtful.count_nonzero())
        buffers = dict(zip(sources, given, strict=True))
        if count > MOST_REPAIRED * places:
            return written(buffers)
        indices = doubtful.nonzero().unbind(1)
        result = fast.clone(memory_format=torch.contiguous_format)
        result.permute([*listed, *alone])[indices] = points(buffers, indices)
        return result

    return repair


def _work(binding: Binding) -> Work:
    """The products of the two sides, everything else in passes over the result."""
    scope = binding.scope
    found = _expanded(scope)
    assert found is not None
    operations, calls = 0.0, 0
    parts = _own(scope, found)
    for stage in parts:
        operations += _operations(stage)
        calls += max(1, len(walk(stage.body)) // 2)
    moved = sum(read_bytes(r, r.rows, scope.domain) for r in binding.operands)
    moved += sum(2.0 * stage.size * element_bytes(stage) for stage in parts)
    passes = 4 + 2 * len(nested_scopes(found.fast))
    return Work(operations, moved + passes * output_bytes(scope), calls + 6, "matmul")


def _operations(stage: Scope) -> float:
    """Two for each point of the products of a sum, taken pair by pair."""
    body = stage.body
    factors = body.factors if isinstance(body, Mul) else (body,)
    dims = [
        frozenset(i for i in range(len(stage.domain)) if factor.free >> i & 1)
        for factor in factors
        if factor.free
    ]
    if not stage.sums or len(dims) < 2:
        return 0.0
    kept = frozenset(range(len(stage.loops)))
    total = 0.0
    for left, right, left_over in contraction_order(dims, kept, stage.extents):
        total += 2.0 * prod(stage.extents[i] for i in dims[left] | dims[right])
        dims[left] = (dims[left] | dims[right]) & left_over
    return total


REPAIRED = operator("repaired", work=_work, launch=_launch, recognise=recognise)
