"""Batched matrix product of views.

    C[b,m,n] = A[b,m,k] * B[b,k,n]

Each of b, m, n and k may be several iterators of the scope or none (m and n not both); the rows may
be any affine ones, so transposed, strided, overlapping and padded operands are bound too.
"""

from __future__ import annotations

from math import prod

import torch

from einderive.eops.library.arrange import library_call, reading, scaled, scales_operand
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import view_refusal
from einderive.eops.library.traffic import (
    call_bytes,
    operand_bytes,
    overlap_bytes,
)
from einderive.eops.torch_views.contract import Shape, contract, result_order
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.strided import fill_value
from einderive.ta.ir.operator import Binding, Launch, Work, utilisation
from einderive.ta.traffic.walks import dense_strides, padded_copies


def _constraint(binding: Binding) -> str | None:
    if binding.extent("k") == 1:
        return "without a summed index it is an elementwise product"
    if not binding.roles["m"] and not binding.roles["n"]:
        return "without m and n it is a sum of elementwise products"
    return view_refusal(binding)


def _launch(binding: Binding) -> Launch:
    scope, coefficient = binding.scope, binding.coefficient
    bounds = dict(enumerate(scope.domain))
    roles = [[i for role in held for i in binding.roles[role]] for held in ("bmk", "bnk")]
    readings = [
        reading(read, read.rows, dims, bounds)
        for read, dims in zip(binding.operands, roles, strict=True)
    ]
    loops = frozenset(range(len(scope.loops)))

    def call(buffers: Buffers, dtype: torch.dtype) -> torch.Tensor:
        left, right = (read(buffers, dtype) for read in readings)
        smaller = min(left.tensor, right.tensor, key=torch.numel)
        early = scales_operand(smaller, prod(scope.shape), coefficient)
        if early:
            tensor = smaller * fill_value(coefficient, dtype)
            if smaller is left.tensor:
                left = left._replace(tensor=tensor)
            else:
                right = right._replace(tensor=tensor)
        result, dims = contract(left, right, loops)
        if not early:
            result = scaled(result, coefficient)
        every = [slice(None) if i in dims else None for i in range(len(scope.loops))]
        return result[tuple(every)].expand(scope.shape)

    return library_call(scope, call)


def _work(binding: Binding) -> Work:
    b, m, n, k = [binding.extent(role) for role in "bmnk"]
    scope, roles = binding.scope, binding.roles
    operands = []
    for read, own in zip(binding.operands, "mn", strict=True):
        groups = (roles[own], roles["k"])
        role = groups[0] + groups[1]
        traffic = operand_bytes(read, read.rows, scope.domain, groups, role)
        if not traffic.copied and not traffic.in_runs:
            traffic = traffic._replace(copied=overlap_bytes(read, role, scope.extents))
        operands.append(traffic)
    moved, copied, in_runs = call_bytes(scope, *operands)
    used, shape = utilisation(m, n, k), (b, m, n, k)
    pads = sum(padded_copies(r.rows, r.source.ranges, scope.domain) for r in binding.operands)
    work = Work(2.0 * b * m * n * k, moved, 1, "matmul", used, copied, shape)
    return work._replace(views=_views(binding), pads=pads, bytes_in_runs=in_runs)


def _views(binding: Binding) -> int:
    """The operands and the result, if they are no matrices [m, k], [k, n] and [m, n] as they lie; a
    batch may be in front."""
    alone = {role: _alone(binding, role) for role in "bmnk"}
    batch = [i for i in alone["b"] if i is not None]
    roles = [[*batch, *alone["m"], *alone["k"]], [*batch, *alone["k"], *alone["n"]]]
    held = [[row.lone for row in read.rows] for read in binding.operands]
    result = [*batch, *alone["m"], *alone["n"]] == [*range(len(binding.scope.loops))]
    return sum(one != other for one, other in zip(held, roles, strict=True)) + (not result)


def _alone(binding: Binding, role: str) -> list[int | None]:
    """The one iterator of a role; None where there are others."""
    held = binding.roles[role]
    return [*held] if len(held) == 1 or (role == "b" and not held) else [None]


def _stored(binding: Binding) -> tuple[int, ...]:
    scope, shapes = binding.scope, []
    for read in binding.operands:
        steps = dense_strides(read.source, read.rows)
        dims = tuple(i for i in range(len(scope.domain)) if read.free >> i & 1)
        strides = tuple(steps.get(i, 0) for i in dims)
        shapes.append(Shape(dims, tuple(scope.extents[i] for i in dims), strides))
    return result_order(shapes[0], shapes[1], frozenset(range(len(scope.loops))))


MATMUL = operator("matmul", work=_work, launch=_launch, constraint=_constraint, stored=_stored)
