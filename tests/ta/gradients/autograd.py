"""The independent judge: torch computes a scope from its definition, and its autograd the gradient.

Every scope is a dense tensor over all its iterators, which torch reduces.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Power,
    Scope,
    Select,
    Tensor,
)
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import fold, stages

Tensors = Mapping[str, torch.Tensor]


def outputs(program: Program, values: Tensors) -> list[torch.Tensor]:
    """The outputs of the program, on torch's graph."""
    known: dict[Scope, torch.Tensor] = {}
    for stage in stages(*program.roots()):
        known[stage] = _scope(stage, known, values)
    return [known[root] for root in program.roots()]


def gradients(
    program: Program, values: Tensors, wrt: list[str], cotangents: list[torch.Tensor]
) -> dict[str, torch.Tensor]:
    """The gradients by torch's autograd; 0 where there is none."""
    given = {
        name: value.clone().requires_grad_() if name in wrt else value
        for name, value in values.items()
    }
    total = sum(
        (found * seed).sum()
        for found, seed in zip(outputs(program, given), cotangents, strict=True)
    )
    assert isinstance(total, torch.Tensor)
    found = (
        torch.autograd.grad(total, [given[name] for name in wrt], allow_unused=True)
        if total.requires_grad
        else [None] * len(wrt)
    )
    return {
        name: torch.zeros_like(given[name]) if slope is None else slope
        for name, slope in zip(wrt, found, strict=True)
    }


def _scope(scope: Scope, known: Mapping[Scope, torch.Tensor], values: Tensors) -> torch.Tensor:
    count = len(scope.domain)
    mesh = [
        torch.arange(r.lo, r.hi).reshape([-1 if i == j else 1 for j in range(count)])
        for i, r in enumerate(scope.domain)
    ]

    def row(row: affine.Row) -> torch.Tensor:
        return torch.as_tensor(affine.evaluate(row, mesh.__getitem__))

    def holds(condition: Condition) -> torch.Tensor:
        value = row(condition.row)
        return value >= 0 if condition.relation == ">=" else value == 0

    def read(access: Access) -> torch.Tensor:
        if access.source is INDEX:
            return row(access.rows[0]).double()
        source = access.source
        table = values[source.name] if isinstance(source, Tensor) else known[source]
        indices, inside = [], torch.tensor(True)
        for place, bound in zip(map(row, access.rows), source.ranges, strict=True):
            inside = inside & (place >= bound.lo) & (place < bound.hi)
            indices.append(place.clamp(bound.lo, max(bound.hi - 1, bound.lo)) - bound.lo)
        fill = torch.tensor(float(access.fill), dtype=torch.float64)
        if not table.numel():
            return fill
        found = wide(table[tuple(indices)] if indices else table)
        return torch.where(inside, found, fill)

    def value(node: Node, parts: tuple[torch.Tensor, ...]) -> torch.Tensor:
        match node:
            case Const():
                return torch.tensor(float(node.value), dtype=torch.float64)
            case Access():
                return read(node)
            case Mul():
                found = parts[0]
                for part in parts[1:]:
                    found = found * part
                return found
            case Add():
                return sum(parts[1:], parts[0])
            case Power():
                return parts[0] ** node.exponent
            case Select():
                taken = torch.tensor(True)
                for condition in node.conditions:
                    taken = taken & holds(condition)
                return torch.where(taken, *parts)
        assert isinstance(node, Apply)
        return _apply(node.function, parts)

    body = wide(fold(scope.body, value)).expand(scope.extents)
    if not scope.sums:
        return body
    axes = tuple(range(len(scope.loops), count))
    if scope.reducer == "sum":
        return body.sum(axes)
    if scope.reducer == "prod":
        return body.flatten(axes[0]).prod(-1)
    if not body.numel():
        return torch.full(scope.shape, float(REDUCERS[scope.reducer].identity), dtype=torch.float64)
    return (body.amax if scope.reducer == "max" else body.amin)(axes)


def _apply(function: str, parts: tuple[torch.Tensor, ...]) -> torch.Tensor:
    known = FUNCTIONS[function]
    if known.picks:
        return torch.where(parts[0] != 0, parts[1], parts[2])
    if known.digits:
        parts = tuple(part.long() for part in parts)
    text = known.torch_call(*(f"p[{place}]" for place in range(len(parts))))
    space = {"p": parts, "torch": torch, "F": torch.nn.functional, "math": __import__("math")}
    found = eval(text, space)
    kind = torch.complex128 if isinstance(found, complex) else torch.float64
    return wide(found if isinstance(found, torch.Tensor) else torch.tensor(found, dtype=kind))


def wide(value: torch.Tensor) -> torch.Tensor:
    """The values in complex128 if they are complex, else in float64."""
    return value.to(torch.complex128 if value.is_complex() else torch.float64)
