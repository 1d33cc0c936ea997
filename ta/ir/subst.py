"""Walks over scalar expressions, and their rebuilding with other rows or other accesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import TypeVar

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.interning import make_access
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
    Source,
)
from einderive.ta.ir.positions import INDEX

Replace = Callable[[Access], Node]
_Value = TypeVar("_Value")
_Key = TypeVar("_Key", bound=Node)


def rebuild(
    node: Node, on_access: Replace, on_condition: Callable[[Condition], Condition] | None = None
) -> Node:
    """The expression in which `on_access` replaces every access and `on_condition` every condition.
    Shared sub-terms are rebuilt once."""
    if isinstance(node, Access):
        return on_access(node)
    if isinstance(node, Mul):
        reads = [factor for factor in node.factors if isinstance(factor, Access)]
        if len(reads) == len(node.factors):
            return expr.mul(*map(on_access, reads))
    return _Rebuilt(on_access, on_condition).of(node)


class _Rebuilt:
    """The distinct sub-terms that are rebuilt.  An object of its own: functions that hold each
    other would be left to the garbage collector, by the ten thousand in one search."""

    __slots__ = ("done", "on_access", "on_condition")

    def __init__(
        self, on_access: Replace, on_condition: Callable[[Condition], Condition] | None
    ) -> None:
        self.on_access, self.on_condition = on_access, on_condition
        self.done: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        found = self.done.get(node)
        if found is None:
            found = self.done[node] = self._made(node)
        return found

    def _made(self, node: Node) -> Node:
        if isinstance(node, Access):
            return self.on_access(node)
        if isinstance(node, Select) and self.on_condition is not None:
            conditions = tuple(map(self.on_condition, node.conditions))
            return expr.select(conditions, self.of(node.then), self.of(node.otherwise))
        return with_children(node, tuple(map(self.of, children(node))))


def map_rows(node: Node, on_row: Callable[[Row], Row]) -> Node:
    """The expression with `on_row` applied to every row of its accesses and conditions."""

    def on_access(access: Access) -> Node:
        if access.source is INDEX:
            return expr.position(on_row(access.rows[0]))
        return make_access(access.source, tuple(map(on_row, access.rows)), access.fill)

    def on_condition(condition: Condition) -> Condition:
        return Condition(condition.relation, on_row(condition.row))

    return rebuild(node, on_access, on_condition)


def substitute(node: Node, replacement: Sequence[Row] | Mapping[int, Row]) -> Node:
    """The expression with `x_i` replaced by the row `replacement[i]`."""
    changed = 0
    for i in affine.bits(node.free):
        same = affine.iterator(i)
        row = replacement[i]
        if row is not same and row != same:
            changed |= 1 << i
    if not changed:
        return node

    def on_access(access: Access) -> Node:
        if not access.free & changed:
            return access
        rows = tuple([affine.substitute(row, replacement) for row in access.rows])
        if access.source is INDEX:
            return expr.position(rows[0])
        return make_access(access.source, rows, access.fill)

    def on_condition(condition: Condition) -> Condition:
        return Condition(condition.relation, affine.substitute(condition.row, replacement))

    return rebuild(node, on_access, on_condition)


def rename(node: Node, positions: Sequence[int] | Mapping[int, int]) -> Node:
    """The expression with iterator `i` at `positions[i]`, a bijection on those that occur."""
    return map_rows(node, lambda row: affine.rename(row, positions))


def replace_node(node: Node, old: Node, new: Node) -> Node:
    """The expression with the sub-term `old` replaced by `new` wherever it stands as a whole.

    In a product, `old` may be part of the factors: `a*b*c` with `a*b -> d` is `d*c`.  So it may in
    a sum: `a+b+c` with `a+b -> d` is `d+c`.  Shared sub-terms are rebuilt once.
    """
    return _Replaced(old, new).of(node)


class _Replaced:
    """The distinct sub-terms in which `old` is replaced."""

    __slots__ = ("done", "new", "old")

    def __init__(self, old: Node, new: Node) -> None:
        self.old, self.new = old, new
        self.done: dict[Node, Node] = {old: new}

    def of(self, node: Node) -> Node:
        if self.old.free & ~node.free:
            return node  # `old` cannot stand in it
        found = self.done.get(node)
        if found is None:
            found = self.done[node] = self._made(node)
        return found

    def _made(self, node: Node) -> Node:
        old, new = self.old, self.new
        if isinstance(node, Mul) and isinstance(old, Mul) and set(old.factors) <= set(node.factors):
            return expr.mul(new, *(f for f in node.factors if f not in old.factors))
        if isinstance(node, Add) and isinstance(old, Add) and set(old.terms) <= set(node.terms):
            return expr.add(new, *(term for term in node.terms if term not in old.terms))
        return with_children(node, tuple(map(self.of, children(node))))


def children(node: Node) -> tuple[Node, ...]:
    """The operands of a scalar node; an access has none."""
    if isinstance(node, Mul):
        return node.factors
    if isinstance(node, Add):
        return node.terms
    if isinstance(node, Power):
        return (node.base,)
    if isinstance(node, Apply):
        return node.args
    if isinstance(node, Select):
        return (node.then, node.otherwise)
    return ()


def branches(node: Node) -> tuple[Node, ...]:
    """The two terms between which a choice, by indices or by a value, chooses.  Nothing for other
    nodes."""
    if isinstance(node, Select):
        return (node.then, node.otherwise)
    if isinstance(node, Apply) and FUNCTIONS[node.function].picks:
        return node.args[1:]
    return ()


def terms_of(node: Node) -> tuple[Node, ...]:
    """The terms of a sum.  Any other node is its own only term."""
    return node.terms if isinstance(node, Add) else (node,)


def factors_of(node: Node) -> tuple[Node, ...]:
    """The factors of a product.  Any other node is its own only factor."""
    return node.factors if isinstance(node, Mul) else (node,)


def with_children(node: Node, operands: tuple[Node, ...]) -> Node:
    """The scalar node with other operands.  It is the node itself if they are its own."""
    if operands == children(node):  # made canonical already
        return node
    if isinstance(node, Mul):
        return expr.mul(*operands)
    if isinstance(node, Add):
        return expr.add(*operands)
    if isinstance(node, Power):
        return expr.power(operands[0], node.exponent)
    if isinstance(node, Apply):
        return expr.apply(node.function, *operands)
    if isinstance(node, Select):
        return expr.select(node.conditions, *operands)
    return node


def fold(node: Node, step: Callable[[Node, tuple[_Value, ...]], _Value]) -> _Value:
    """`step(node, values of its operands)`, operands first, once for each distinct sub-term."""
    done: dict[Node, _Value] = {}

    def of(node: Node) -> _Value:
        if node not in done:
            done[node] = step(node, tuple(map(of, children(node))))
        return done[node]

    return of(node)


@lru_cache(maxsize=16384)
def walk(node: Node) -> tuple[Node, ...]:
    """The distinct sub-terms of a scalar expression, each before its operands.  They are kept,
    since a body is walked over many times."""
    found: dict[Node, None] = {}
    pending = [node]
    while pending:
        current = pending.pop()
        if current not in found:
            found[current] = None
            pending.extend(reversed(children(current)))
    return tuple(found)


@lru_cache(maxsize=16384)
def applied(node: Node, extents: Sequence[int]) -> tuple[tuple[str, float], ...]:
    """The functions of the expression, with the number of their values: each is computed over the
    iterators that occur in it.  A choice by a condition on indices counts as `where`."""
    functions = [each for each in walk(node) if isinstance(each, Apply | Select)]
    if not functions:
        return ()  # at once: a Counter takes longer than all of this
    found = Counter[str]()
    for each in functions:
        name = each.function if isinstance(each, Apply) else "where"
        found[name] += affine.volume(extents, each.free)
    return tuple((name, float(number)) for name, number in found.items())


def accesses(node: Node) -> tuple[Access, ...]:
    """The distinct accesses of a scalar expression, in order."""
    if isinstance(node, Access):
        return (node,)
    return tuple([found for found in walk(node) if isinstance(found, Access)])


@lru_cache(maxsize=16384)
def sources(node: Node) -> tuple[Source, ...]:
    """The distinct tensors and scopes that a scalar expression reads, in order."""
    return tuple(dict.fromkeys([access.source for access in accesses(node)]))


@lru_cache(maxsize=16384)
def nested_scopes(scope: Scope) -> tuple[Scope, ...]:
    """The distinct scopes that the scope's body reads directly."""
    return tuple([source for source in sources(scope.body) if isinstance(source, Scope)])


def stages(*roots: Scope, known: Collection[Scope] = ()) -> tuple[Scope, ...]:
    """All distinct scopes reachable from the roots, producers before consumers: not those that are
    `known`, nor what is reached through these alone."""
    ordered: dict[Scope, None] = dict.fromkeys(known)
    first = len(ordered)
    pending: list[tuple[Scope, bool]] = [(root, False) for root in reversed(roots)]
    while pending:
        scope, ready = pending.pop()
        if scope in ordered:
            continue
        if ready:
            ordered[scope] = None
            continue
        pending.append((scope, True))
        pending.extend((child, False) for child in reversed(nested_scopes(scope)))
    return tuple(ordered)[first:]


def reached(roots: Iterable[_Key], below: Callable[[_Key], Iterable[_Key]]) -> dict[_Key, None]:
    """The roots, what is below them, and what is below that: each once, when it is found."""
    found = dict.fromkeys(roots)
    pending = list(found)
    while pending:
        for each in below(pending.pop()):
            if each not in found:
                found[each] = None
                pending.append(each)
    return found


def from_below(
    roots: Iterable[Scope], done: Container[Scope], below: Callable[[Scope], Iterable[Scope]]
) -> Iterator[Scope]:
    """The roots and what is below them that is not done yet, each after what is below it.  The
    caller does each before it asks for the next one."""
    pending = list(roots)[::-1]
    while pending:
        current = pending[-1]
        missing = [] if current in done else [each for each in below(current) if each not in done]
        pending += reversed(missing)
        if not missing:
            pending.pop()
            if current not in done:
                yield current


def producers(node: Node) -> tuple[Scope, ...]:
    """The scope, or everything that a scalar expression reads, producers first.  Computed in this
    order, a long chain needs no recursion."""
    read = (node,) if isinstance(node, Scope) else sources(node)
    return stages(*(source for source in read if isinstance(source, Scope)))


def is_infinite(term: Node) -> bool:
    """Whether the term is an infinite number of the text, or a read with an infinite fill."""
    number = term.value if isinstance(term, Const) else None
    return isinstance(term.fill if isinstance(term, Access) else number, float)


def reduces_nothing(scope: Scope) -> bool:
    """Whether the scope is a max or min over an empty range, which is infinite."""
    return bool(REDUCERS[scope.reducer].order) and any(side.extent == 0 for side in scope.sums)


def every_term(*roots: Scope) -> Iterator[Node]:
    """The sub-terms of the bodies of all scopes reachable from the roots, producers first."""
    for stage in stages(*roots):
        yield from walk(stage.body)


def points_of(*roots: Scope) -> int:
    """The total number of iteration points of all scopes that are reachable from the roots."""
    return sum(prod(stage.extents) for stage in stages(*roots))
