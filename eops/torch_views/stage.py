"""One stage of a program as torch operations on strided views.

    Y[x] = reduce[y] f(x, y)      ->      a callable from the buffers of its sources to Y's tensor

Which operations: a single read is a view; a product under a sum is a chain of matrix products; a
sliding window with few taps is a sum of shifted slices; everything else is evaluated elementwise,
block by block, and reduced.  A reduction of which an equality leaves one term, as in a gather, is
this term; where an equality says to which element a term goes, as in a scatter, it is added there.
What can be decided from the scope is decided once, in `lower`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite, prod
from typing import TypeAlias

import torch

from einderive.eops.dtypes import leaves
from einderive.eops.torch_views.blocked import BlockedStage, device_of
from einderive.eops.torch_views.contract import Operand, contract
from einderive.eops.torch_views.digits import split_digits
from einderive.eops.torch_views.one_term import one_term_stage
from einderive.eops.torch_views.positions import Positions
from einderive.eops.torch_views.scalar import Buffers, Elementwise
from einderive.eops.torch_views.scatter import ScatterStage, scatter_stage
from einderive.eops.torch_views.steps import align
from einderive.eops.torch_views.strided import fill_value
from einderive.eops.torch_views.taps import TapStage, tap_stage
from einderive.eops.torch_views.types import HALVES, StageTypes, types_of
from einderive.eops.torch_views.views import plan_reads
from einderive.ta.facts.pairs import contraction_order
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Const, Mul, Node, Number, Scope, Source, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, rebuild, sources, stages, substitute

Stage: TypeAlias = Callable[[Buffers], torch.Tensor]
Put: TypeAlias = Callable[[ScatterStage], Callable[..., torch.Tensor | None]]
_Kernel: TypeAlias = Callable[[Buffers, StageTypes], torch.Tensor]


def lower(
    scope: Scope, *, as_written: bool = False, put: Put | None = None, recorded: bool = False
) -> Stage:
    """The stage as a function of its sources' buffers, which give the tensor `scope`.

    A buffer has the extents of its source's ranges, any strides, index 0 of a dimension being its
    `lo`; all lie on one device.  The result has `scope.shape`, may have any strides (also 0) and
    may share memory with a buffer: neither may be written to while the other is in use.  Element
    types are those of `eops.torch_views.types`.  No gradients are recorded, unless it is to be
    `recorded`, where all of its operations have derivatives.

    Products under a sum are reassociated, which for finite data only rounds differently; infinities
    may give NaN where the sum as written gives an infinity, and the other way round.  With
    `as_written` no factor is summed by itself, and no product with what lies outside of a source
    is left out, so that neither moves; that may be slow.  `put` gives the function that adds the
    terms of a scatter.
    """
    if 0 in scope.shape or any(bound.extent == 0 for bound in scope.sums):
        return _constant_stage(scope)
    kernel, types = _scattered(scope, as_written, put), types_of(scope)
    kernel = kernel or _placed(scope, as_written=as_written)

    def run(buffers: Buffers) -> torch.Tensor:
        return kernel(buffers, types(buffers))

    return run if recorded else torch.no_grad()(run)


def _scattered(scope: Scope, as_written: bool, put: Put | None) -> _Kernel | None:
    stage = scatter_stage(scope)
    if stage is None:
        return None
    if put is not None:
        stage.by(put(stage))
    terms = _repeated(stage.terms) or _placed(stage.terms, as_written=as_written)
    places = [lower(place) for place in stage.places]
    return lambda buffers, types: stage(terms, places, buffers, types)


def _repeated(scope: Scope) -> _Kernel | None:
    """A constant at every place takes the memory of one."""
    body = scope.body
    if scope.sums or not isinstance(body, Const):
        return None

    def kernel(buffers: Buffers, types: StageTypes) -> torch.Tensor:
        value = fill_value(body.value, types.compute)
        device = device_of(buffers, [])
        return torch.full((), value, dtype=types.compute, device=device).expand(scope.shape)

    return kernel


def _placed(scope: Scope, *, as_written: bool) -> _Kernel:
    positions = Positions(scope)
    kernel = _computed(positions.scope, as_written=as_written)
    return lambda buffers, types: kernel(positions.beside(buffers), types)


def _computed(scope: Scope, *, as_written: bool) -> _Kernel:
    fixed = one_term_stage(scope)
    if fixed is not None and fixed.alone:
        return fixed.result
    if fixed is not None:
        inner = _computed(fixed.scope, as_written=as_written)
        return lambda buffers, types: inner(fixed.beside(buffers, types), types)
    split, regroup = split_digits(_without_idle_fills(scope))
    split = _forward_sums(split)
    kernel = _kernel(split)
    if as_written and not _forms_products(split, kernel):
        kernel = BlockedStage(split)
    return lambda buffers, types: regroup(kernel(buffers, types).expand(split.shape))


def lower_all(
    root: Scope, *, as_written: bool = False
) -> Callable[[Mapping[Tensor, torch.Tensor]], torch.Tensor]:
    """All stages of the scope, each computed once.  A stage's result is dropped after its last
    reader."""
    order = stages(root)
    last: dict[Source, Scope] = {}
    for stage in order:
        last |= dict.fromkeys(sources(stage.body), stage)
    steps = [
        (
            stage,
            lower(stage, as_written=as_written),
            [s for s, r in last.items() if r is stage and isinstance(s, Scope)],
        )
        for stage in order
    ]

    def run(inputs: Mapping[Tensor, torch.Tensor]) -> torch.Tensor:
        buffers: dict[Source, torch.Tensor] = {tensor: inputs[tensor] for tensor in inputs}
        for stage, compute, read_last in steps:
            buffers[stage] = compute(buffers)
            for source in read_last:
                del buffers[source]
        return buffers[root]

    return run


def _constant_stage(scope: Scope) -> Stage:
    """A tensor without elements, or a reduction over nothing: its identity."""
    read = [source for source in sources(scope.body) if source is not INDEX]
    types = types_of(scope)

    def run(buffers: Buffers) -> torch.Tensor:
        dtype = types(buffers).result
        value = fill_value(REDUCERS[scope.reducer].identity, dtype)
        device = device_of(buffers, [buffers[source] for source in read])
        return torch.full(scope.shape, value, dtype=dtype, device=device)

    return run


def _without_idle_fills(scope: Scope) -> Scope:
    """A read that never leaves its source has the fill 0, which every type holds.

    Before iterators are split: the boxes of their digits may be larger than the domain, so that
    reads leave their sources where nothing is kept.  An infinite fill is no obstacle, and tells
    a maximum's windows from others.
    """

    def refilled(access: Access) -> Node:
        return expr.access(access.source, access.rows, 0) if access in idle else access

    idle = {
        access
        for access in accesses(scope.body)
        if isinstance(access.fill, Fraction) and access.fill and not leaves(access, scope.domain)
    }
    if not idle:
        return scope
    return make_scope(scope.loops, scope.sums, rebuild(scope.body, refilled), scope.reducer)


def _forward_sums(scope: Scope) -> Scope:
    """Reduction iterators that run against a loop are reversed, so that reads are plain views.

    `S[i] A[i] * K[h-2*i]` becomes `S[j] A[n-j] * K[h+2*j-2*n]`: A, not K's windows, is flipped.
    """
    first = len(scope.loops)
    against = dict.fromkeys(range(first, first + len(scope.sums)), 0)
    for access in accesses(scope.body):
        for row in access.rows:
            rises = {a > 0 for i, a in row.terms if i < first}
            for i, a in row.terms:
                if i in against and rises:
                    against[i] += 1 if (a > 0) not in rises else -1
    replacement = [affine.iterator(i) for i in range(len(scope.domain))]
    for i, balance in against.items():
        if balance > 0:
            bound = scope.domain[i]
            replacement[i] = Row(bound.lo + bound.hi - 1, ((i, -1),))
    if all(row.lone is not None for row in replacement):
        return scope
    body = substitute(scope.body, replacement)
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


def _kernel(scope: Scope) -> _Kernel:
    if isinstance(scope.body, Access) and not scope.sums:
        return _ViewStage(scope, scope.body)
    if scope.sums:
        taps = tap_stage(scope)
        if taps is not None:
            return taps
    if scope.sums and scope.reducer == "sum":
        coefficient, core = split_coefficient(scope.body)
        if isinstance(core, Mul) and len(core.factors) > 1:
            product_stage = _ProductStage(scope, coefficient, core.factors)
            if product_stage.saves_work:
                return product_stage
    return BlockedStage(scope)


def _forms_products(scope: Scope, kernel: _Kernel) -> bool:
    """Whether the kernel sums the products as they stand.  Taps leave out what is outside; a chain
    of contractions, or a factor that alone has a summed iterator, is summed before it is multiplied
    by the others, and so is what is multiplied by an infinite factor outside."""
    coefficient, _ = split_coefficient(scope.body)
    if not isfinite(fill_value(coefficient, torch.float64)):
        return isinstance(kernel, BlockedStage)
    if isinstance(kernel, TapStage):
        return len(kernel.factors) == 1
    return not isinstance(kernel, _ProductStage) or kernel.one_product


class _ViewStage:
    def __init__(self, scope: Scope, access: Access) -> None:
        self.access, self.shape = access, scope.shape
        (self.plan,) = plan_reads([access], scope.loops)

    def __call__(self, buffers: Buffers, types: StageTypes) -> torch.Tensor:
        view = self.plan(buffers[self.access.source].to(types.result))
        return align(view, self.plan.present, tuple(range(len(self.shape)))).expand(self.shape)


class _ProductStage:
    """`c * S[y] f_1 * ... * f_n`: each factor over its own iterators, then pair by pair."""

    def __init__(self, scope: Scope, coefficient: Number, factors: tuple[Node, ...]) -> None:
        extents = [bound.extent for bound in scope.domain]
        self.loops = frozenset(range(len(scope.loops)))
        self.rank = len(scope.loops)
        self.factors = [Elementwise(factor, scope.domain) for factor in factors]
        dims = [frozenset(factor.dims) for factor in self.factors]
        self.pairs = contraction_order(dims, self.loops, extents)
        everywhere = frozenset().union(*dims)
        absent = prod(extents[i] for i in range(self.rank, len(extents)) if i not in everywhere)
        self.coefficient = coefficient * absent
        smallest = min(self.factors, key=lambda factor: factor.extent)
        outputs = prod(extents[i] for i in everywhere & self.loops)
        self.scaled = smallest if smallest.extent < outputs else None
        plain = [isinstance(factor, Access) for factor in factors]
        self.native = len(factors) == 2 and all(plain)
        summed = everywhere - self.loops
        self.one_product = len(factors) == 2 and all(summed <= held for held in dims)
        largest = prod(extents)
        temporaries = (f.extent for f, p in zip(self.factors, plain, strict=True) if not p)
        self.saves_work = max(temporaries, default=0) < largest and (
            len(factors) > 2 or dims[0] != dims[1]
        )

    def __call__(self, buffers: Buffers, types: StageTypes) -> torch.Tensor:
        native = self.native and types.result in HALVES
        dtype = types.result if native else types.compute
        scale = fill_value(self.coefficient, dtype)
        operands: list[Operand] = []
        for factor in self.factors:
            views = factor.views(buffers, dtype)
            tensor = factor.run(views, dtype, device_of(buffers, views.read)).tensor
            if scale != 1 and factor is self.scaled and not native:
                tensor, scale = tensor * scale, 1
            operands.append(Operand(tensor, factor.dims))
        for left, right, kept in self.pairs:
            operands[left] = contract(operands[left], operands[right], kept)
        tensor, dims = operands[0]
        if scale != 1:
            tensor = tensor * scale
        return align(tensor, dims, tuple(range(self.rank))).to(types.result)
