"""Operands as a library call takes them, with one dimension for each role; results read back.

    x[role_1, ..., role_d] = source[rows]          Y[loops] = y[role_1, ..., role_d]

Any number of iterators may play a role; reshaping merges them into one dimension.  This is a view
if their strides merge, and a copy otherwise.  The result is split and permuted, always as a view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import torch

from einderive.eops.torch_views.contract import Operand
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.steps import Dims, align
from einderive.eops.torch_views.strided import Iterators, fill_value
from einderive.eops.torch_views.types import HALVES, stage_types
from einderive.eops.torch_views.views import ViewPlan, plan_view
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Number, Scope, Source
from einderive.ta.ir.operator import Launch
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import sources

Call: TypeAlias = Callable[[Buffers, torch.dtype], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Reading:
    """A read over given iterators, each of which has a dimension, in rising order."""

    source: Source
    plan: ViewPlan
    iterators: Iterators

    def __call__(self, buffers: Buffers, dtype: torch.dtype) -> Operand:
        view = self.plan(buffers[self.source].to(dtype))
        dims = tuple(i for i, _ in self.iterators)
        shape = [bound.extent for _, bound in self.iterators]
        return Operand(align(view, self.plan.present, dims).expand(shape), dims)


def reading(
    access: Access, rows: Sequence[Row], dims: Sequence[int], bounds: Mapping[int, Range]
) -> Reading:
    """The access with other rows, over the iterators `dims`.

    Any other iterator in the rows is a loop of extent 1 without a role and stays at its one value.
    """
    fixed = {
        i: affine.iterator(i) if i in dims else affine.constant(bounds[i].lo)
        for i in set().union(*map(affine.iterators, rows))
    }
    rows = [affine.substitute(row, fixed) for row in rows]
    ordered = [(i, bounds[i]) for i in sorted(dims)]
    plan = plan_view(access.source.ranges, rows, ordered, access.fill)
    return Reading(access.source, plan, ordered)


def by_stride(operand: Operand, role: Dims) -> Dims:
    """The role's iterators by falling stride: the order in which they merge without a copy."""
    strides = dict(zip(operand.dims, operand.tensor.stride(), strict=True))
    return tuple(sorted(role, key=lambda i: (-strides[i], i)))


def merged(operand: Operand, roles: Sequence[Dims]) -> torch.Tensor:
    """The operand with one dimension for each role.  A role that no iterator plays has extent 1."""
    extents = dict(zip(operand.dims, operand.tensor.shape, strict=True))
    order = [operand.dims.index(i) for role in roles for i in role]
    shape = [prod(extents[i] for i in role) for role in roles]
    return operand.tensor.permute(order).reshape(shape)


def restored(result: torch.Tensor, roles: Sequence[Dims], scope: Scope) -> torch.Tensor:
    """The result of the roles as a view over the scope's loops; the others are of extent 1."""
    dims = tuple(i for role in roles for i in role)
    split = result.reshape([scope.domain[i].extent for i in dims])
    rising = tuple(sorted(dims))
    view = split.permute([dims.index(i) for i in rising])
    return align(view, rising, tuple(range(len(scope.loops)))).expand(scope.shape)


def scaled(result: torch.Tensor, coefficient: Number) -> torch.Tensor:
    """`coefficient * result`, in the memory of the result, which is the caller's own."""
    return result if coefficient == 1 else result.mul_(fill_value(coefficient, result.dtype))


def scales_operand(operand: torch.Tensor, outputs: int, coefficient: Number) -> bool:
    """Whether to multiply the operand, instead of the result, by the coefficient: if the operand is
    smaller, and unless the product would be rounded to 16 bits before it is used."""
    return coefficient != 1 and operand.dtype not in HALVES and operand.numel() < outputs


def library_call(scope: Scope, call: Call) -> Launch:
    """`call` on real floating buffers, brought to their common type; for integers and complex
    numbers, which the library's operators lack, the stage as written."""
    read = [source for source in sources(scope.body) if source is not INDEX]
    written: list[Launch] = []

    @torch.no_grad()
    def launch(buffers: Buffers) -> torch.Tensor:
        dtypes = [buffers[source].dtype for source in read]
        dtype = stage_types(scope, dtypes).result
        if dtype.is_floating_point and any(found.is_floating_point for found in dtypes):
            return call(buffers, dtype)
        if not written:
            written.append(lower(scope))
        return written[0](buffers)  # type: ignore[no-any-return]  # Launch is untyped

    return launch
