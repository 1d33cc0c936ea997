"""Reverse mode: the cotangent of every scope and tensor, readers first.

{L[x] R[y] f(x, y)} with the cotangent c(x):     the adjoint of f is c(x) times the term's share
adjoint of an operand  =  adjoint of the node * derivative of the node by the operand
cotangent of what is read  =  the sum of what all its reads pass back

Where complex numbers take part, the derivative is a conjugate one, and what is real has the real
part of its cotangent (`conjugates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from einderive.ta.functions import REDUCERS
from einderive.ta.given.complex_values import has_real_entries, is_computed_real
from einderive.ta.gradients.conjugates import adjoints as passed_to_operands
from einderive.ta.gradients.conjugates import real_part
from einderive.ta.gradients.products import ZERO, plus
from einderive.ta.gradients.reads import passed_back
from einderive.ta.gradients.shares import shared
from einderive.ta.gradients.vanishing import vanishes
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Access, Const, Mul, Node, Scope, Select, Source, Tensor
from einderive.ta.ir.subst import accesses, children, fold, stages, walk


class Reverse(NamedTuple):
    """The gradient by each tensor, the cotangents of scopes that are scopes of their own, and the
    scopes on which the outputs do not depend, as on the maximum that a softmax subtracts."""

    gradients: dict[Tensor, Scope]
    cotangents: dict[Scope, Scope]
    idle: frozenset[Scope]


def reverse(seeds: Mapping[Scope, Node], wrt: Set[Tensor]) -> Reverse:
    """The gradients by the tensors `wrt`.  `seeds` are cotangents of outputs, expressions in their
    loops."""
    order = stages(*seeds)
    active = active_scopes(order, wrt)
    parts: dict[Source, list[Scope]] = {tensor: [] for tensor in wrt}
    parts |= {scope: [] for scope in order if scope in active}
    for scope, seed in seeds.items():
        if scope in active:
            parts[scope].append(make(scope.loops, (), seed))
    cotangents: dict[Scope, Scope] = {}
    idle: set[Scope] = set()
    for scope in reversed(order):
        if not parts.get(scope):
            continue
        found = total(scope, parts[scope])
        if REDUCERS[scope.reducer].order and vanishes(found):
            idle.add(scope)
            continue
        if found.body is ZERO:
            continue
        cotangent = found.body if _is_cheap(found) else _read(found)
        if cotangent is not found.body:
            cotangents[scope] = found
        for read, adjoint in _adjoints(scope, cotangent, active | wrt):
            parts[read.source].append(passed_back(read, adjoint, scope.domain))
    gradients = {tensor: total(tensor, parts[tensor]) for tensor in wrt}
    return Reverse(gradients, cotangents, frozenset(idle))


def active_scopes(
    order: Sequence[Scope], wrt: Set[Tensor], idle: Set[Scope] = frozenset()
) -> set[Scope]:
    """The scopes that depend on one of the tensors; `order` has producers first.  Those in `idle`
    count as constants."""
    found: set[Source] = set(wrt)
    for scope in order:
        if scope not in idle and any(read.source in found for read in accesses(scope.body)):
            found.add(scope)
    return {source for source in found if isinstance(source, Scope)}


def total(source: Source, parts: Sequence[Scope]) -> Scope:
    """The sum of scopes over the ranges of the source; its real part if the source is real."""
    if len(parts) == 1:
        found = parts[0]
    else:
        terms = (_read(part) if part.sums else part.body for part in parts)
        found = make(source.ranges, (), plus(*terms))
    if is_computed_real(found.body) or not has_real_entries(source):
        return found
    return make(source.ranges, (), real_part(_read(found) if found.sums else found.body))


def _read(scope: Scope) -> Node:
    """The scope's value at its loops."""
    return expr.access(scope, affine.iterator_rows(len(scope.loops)))


def _is_cheap(scope: Scope) -> bool:
    """Whether the scope only rearranges the elements of one tensor, times a number."""
    if scope.sums:
        return False
    terms = walk(scope.body)
    reads = [node for node in terms if isinstance(node, Access)]
    return len(reads) <= 1 and all(
        isinstance(node, Access | Const | Mul | Select) for node in terms
    )


def _adjoints(scope: Scope, cotangent: Node, active: Set[Source]) -> list[tuple[Access, Node]]:
    """The reads in the scope's body that count, and their adjoints."""
    counts: dict[Node, bool] = {}
    order: list[Node] = []

    def enter(node: Node, parts: tuple[bool, ...]) -> bool:
        counts[node] = node.source in active if isinstance(node, Access) else any(parts)
        order.append(node)
        return counts[node]

    fold(scope.body, enter)
    adjoints: dict[Node, list[Node]] = {node: [] for node in order}
    adjoints[scope.body].append(shared(scope, cotangent, backward=True))
    found: list[tuple[Access, Node]] = []
    for node in reversed(order):
        if not counts[node]:
            continue
        adjoint = plus(*adjoints[node])
        if adjoint is ZERO:
            continue
        if isinstance(node, Access):
            found.append((node, adjoint))
            continue
        if is_computed_real(node):
            adjoint = real_part(adjoint)
        for operand, part in zip(children(node), passed_to_operands(node, adjoint), strict=True):
            if counts[operand]:
                adjoints[operand].append(part)
    return found
