"""Forward mode: the tangent of every scope, producers first.

{L[x] R[y] f(x, y)}      the sum over y of the tangent of f(x, y) times the term's share
tangent of a node   =    the sum over its operands of tangent * derivative by the operand
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from einderive.ta.gradients import conjugates
from einderive.ta.gradients.products import ZERO
from einderive.ta.gradients.reverse import active_scopes
from einderive.ta.gradients.shares import shared
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Access, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import fold, stages


def forward(
    roots: Sequence[Scope], tangents: Mapping[Tensor, Tensor], idle: Set[Scope] = frozenset()
) -> dict[Scope, Scope]:
    """The tangents of the roots and of all scopes in them that depend on a tensor in `tangents`,
    which holds the tangents of tensors.  Scopes in `idle` count as constants."""
    order = stages(*roots)
    active = active_scopes(order, tangents.keys(), idle)
    known: dict[Source, Source] = {tensor: tangents[tensor] for tensor in tangents}
    found: dict[Scope, Scope] = {}
    for scope in order:
        if scope in active:
            known[scope] = found[scope] = _of_scope(scope, known)
    return found | {root: _zero(root) for root in roots if root not in found}


def _of_scope(scope: Scope, known: Mapping[Source, Source]) -> Scope:
    def tangent(node: Node, parts: tuple[Node, ...]) -> Node:
        if isinstance(node, Access):
            source = known.get(node.source)
            return ZERO if source is None else expr.access(source, node.rows)
        if all(part is ZERO for part in parts):
            return ZERO
        return conjugates.tangent(node, parts)

    body = shared(scope, fold(scope.body, tangent))
    return make(scope.loops, scope.sums, body) if body is not ZERO else _zero(scope)


def _zero(scope: Scope) -> Scope:
    return make(scope.loops, (), ZERO)
