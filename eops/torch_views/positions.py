"""Iterators as values: constant operands in their place.

    INDEX[i-j],  i in 0:4, j in 0:3      becomes      T[i-j],   T = the integers of -2:4

A row that reaches many more integers than its iterators have values is written out:
1000*i + j  =  1000*T[i] + U[j].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch

from einderive.eops.torch_views.gather import PerDevice
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Tensor
from einderive.ta.ir.positions import INDEX, positions_over
from einderive.ta.ir.subst import rebuild, sources

ROOM: Final = 1 << 12
"""A row may reach at most this many integers, and at most SPARSE times as many as its iterators
have values."""
SPARSE: Final = 4


def placed(scope: Scope) -> Scope:
    """The scope with constant operands in the place of INDEX; of an empty one nothing is read."""
    if INDEX not in sources(scope.body):
        return scope
    body = rebuild(scope.body, lambda access: _placed(access, scope.domain))
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


class Positions:
    """The scope with constant operands.  `beside` puts these operands among a stage's buffers."""

    def __init__(self, scope: Scope) -> None:
        self.scope = placed(scope)
        read = (s for s in sources(self.scope.body) if isinstance(s, Tensor) and s is not INDEX)
        constants = (tensor for tensor in read if tensor.name.startswith("#"))
        self.held = {tensor: PerDevice(torch.arange(*tensor.ranges[0])) for tensor in constants}

    def beside(self, buffers: Mapping[Any, torch.Tensor]) -> Mapping[Any, torch.Tensor]:
        if not self.held:
            return buffers
        device = next((b.device for b in buffers.values()), torch.device("cpu"))
        return {**buffers, **{tensor: kept.on(device) for tensor, kept in self.held.items()}}


def _placed(access: Access, domain: Sequence[Range]) -> Node:
    if access.source is not INDEX:
        return access
    row = access.rows[0]
    if not all(bound.extent for bound in domain):
        return expr.access(positions_over(Range(0, 1)), (row,))
    low, high = affine.bounds(row, domain)
    values = sum(domain[i].extent for i in affine.iterators(row))
    if high - low < max(ROOM, SPARSE * values):
        return expr.access(positions_over(Range(low, high + 1)), (row,))
    parts: list[Node] = [expr.const(row.const)]
    parts += [expr.mul(expr.const(a), _alone(affine.iterator(i), domain)) for i, a in row.terms]
    for inner, n, b in row.floors:
        parts.append(expr.mul(expr.const(b), _alone(Row(0, (), ((inner, n, 1),)), domain)))
    return expr.add(*parts)


def _alone(row: Row, domain: Sequence[Range]) -> Node:
    low, high = affine.bounds(row, domain)
    return expr.access(positions_over(Range(low, high + 1)), (row,))
