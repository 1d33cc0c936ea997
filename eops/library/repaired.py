"""A sum of products of differences, multiplied out, and repaired where that loses digits.

    Y[b] = sum[k](f(A[b,k]))         for example   sum[k]((A[i,k] - B[j,k])^2)

`eops.expanded` multiplies out the centred differences, and gives a bound U of the terms: sum of
|terms| <= 2^(n-1) * U.  If |Y| >= 2^(n-1)*U/6, the terms' rounding errors are at most 6 times those
of Y.  If |Y| is smaller, or Y or U is NaN or infinite, Y is computed again as written.  If this
concerns more than a quarter of Y, all of Y is computed again.

A sum whose terms have either sign can be near 0 as written too.  For such a sum, |Y| and U are the
largest over the loops that the differences lack.  The data decide in each call: hard data cost
time, and keep their digits.  A CUDA graph decides nothing, so in its capture all of Y is computed
as written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Final

import torch

from einderive.eops.capture import capturing
from einderive.eops.expanded import Expanded, Product, expanded, product_of
from einderive.eops.library.arrange import library_call
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_plain
from einderive.eops.library.traffic import output_bytes
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.points import Points
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import HALVES
from einderive.ta.facts.pairs import contraction_order
from einderive.ta.ir import affine
from einderive.ta.ir.affine import bits
from einderive.ta.ir.element import element_bytes, floating_inputs
from einderive.ta.ir.node import Access, Mul, Scope, Source
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Work
from einderive.ta.ir.subst import (
    accesses,
    factors_of,
    nested_scopes,
    sources,
    stages,
    walk,
)

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
        if capturing():
            return written(dict(zip(sources, given, strict=True)))
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
    """The products of the two sides, everything else in passes over memory."""
    scope = binding.scope
    found = _expanded(scope)
    parts = _own(scope, found)
    operations, moved, calls = 0.0, 0.0, 0
    shape: tuple[int, ...] = (1, 1, 1, 1)
    for stage in parts:
        for sides in _products(stage):
            operations += 2.0 * prod(sides)
            shape = max(shape, sides, key=prod)
        moved += _moved(stage)
        calls += max(1, len(walk(stage.body)) // 2)
    passes = 4 + 2 * len(nested_scopes(found.fast))
    moved += passes * output_bytes(scope)
    near = 3.0 * max(map(_moved, parts))
    return Work(operations, moved, calls + 6, "matmul", shape=shape, near=near)


def _products(stage: Scope) -> Iterator[tuple[int, ...]]:
    """The products of matrices of a sum whose factors are taken pair by pair: batch, rows, columns
    and summed elements.  What one factor alone is summed over, is summed before."""
    dims = [frozenset(bits(factor.free)) for factor in factors_of(stage.body) if factor.free]
    if not stage.sums or len(dims) < 2:
        return
    kept = frozenset(range(len(stage.loops)))
    for left, right, left_over in contraction_order(dims, kept, stage.extents):
        a, b = dims[left], dims[right]
        roles = (a & b & left_over, (a - b) & left_over, (b - a) & left_over, (a & b) - left_over)
        if roles[-1]:
            yield tuple(prod(stage.extents[i] for i in role) for role in roles)
        dims[left] = (a | b) & left_over


def _moved(stage: Scope) -> float:
    """Each read once, the result written, and the terms of a sum too if they are formed."""
    extents, body = stage.extents, stage.body
    elements = stage.size
    for read in accesses(body):
        elements += min(affine.volume(extents, read.free), read.source.size)
    if stage.sums and not isinstance(body, Access | Mul):
        elements += 2 * prod(extents)
    return float(elements * element_bytes(stage))


REPAIRED = operator("repaired", work=_work, launch=_launch, recognise=recognise)
