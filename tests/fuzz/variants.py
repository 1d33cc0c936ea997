"""A scope with one thing left out or made less, in all ways: what a shrinker tries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from types import MappingProxyType

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import (
    Access,
    Add,
    Condition,
    Const,
    Mul,
    Node,
    Scope,
    Select,
    Source,
    Tensor,
)
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import children, rebuild, replace_node, stages, substitute, walk
from einderive.ta.printing.show import tensors_of

Make = Callable[[], Scope]
NOTHING: Mapping[Scope, Scope] = MappingProxyType({})


def variants(scope: Scope) -> Iterator[Scope]:
    """The variants, those that leave out most first; some are no smaller after all."""
    for make in _makes(scope):
        try:
            found = make()
        except (ValueError, ArithmeticError):  # a constructor refuses it
            continue
        if found is not scope:
            yield found


def _makes(scope: Scope) -> Iterator[Make]:
    for p, side in enumerate(scope.domain):
        for value in dict.fromkeys((side.lo, 0, side.hi - 1)):
            yield partial(_fixed, scope, p, value)
    for stage in stages(scope)[:-1]:
        yield partial(_as_tensor, scope, stage)
        for p, side in enumerate(stage.loops):
            yield partial(_without_loop, scope, stage, p)
            for bound in _narrower(side):
                yield partial(_with_loop, scope, stage, p, bound)
    for stage in stages(scope):
        for node in walk(stage.body):
            for new in _simpler(node):
                yield partial(_with_term, scope, stage, node, new)
    for stage in stages(scope):
        for p, side in enumerate(stage.domain):
            if stage is scope or p >= len(stage.loops):
                for bound in _narrower(side):
                    yield partial(_narrowed, scope, stage, p, bound)
                if side.lo:
                    yield partial(_from_zero, scope, stage, p)
        if stage.reducer != "sum":
            yield partial(_as_sum, scope, stage)
    for tensor in tensors_of(scope).values():
        for d, extent in enumerate(tensor.shape):
            yield partial(_reshaped, scope, tensor, d, None)
            for less in dict.fromkeys((1, extent // 2, extent - 1)):
                if 0 < less < extent:
                    yield partial(_reshaped, scope, tensor, d, less)


def _with_term(scope: Scope, stage: Scope, old: Node, new: Callable[[], Node]) -> Scope:
    body = replace_node(stage.body, old, new())
    changed = make_scope(stage.loops, stage.sums, body, stage.reducer)
    return replace_sources(scope, {stage: changed})


def _as_sum(scope: Scope, stage: Scope) -> Scope:
    return replace_sources(scope, {stage: make_scope(stage.loops, stage.sums, stage.body)})


def _fixed(scope: Scope, position: int, value: int) -> Scope:
    """The scope at one value of an iterator."""
    rows = [affine.iterator(i - (i > position)) for i in range(len(scope.domain))]
    rows[position] = affine.constant(value)
    first = len(scope.loops)
    loops = [side for i, side in enumerate(scope.loops) if i != position]
    sums = [side for i, side in enumerate(scope.sums, first) if i != position]
    return make_scope(loops, sums, substitute(scope.body, rows), scope.reducer)


def _narrower(side: Range) -> Iterator[Range]:
    lo, hi = side
    for bound in dict.fromkeys(
        (Range(lo, lo + 1), Range(lo, (lo + hi) // 2), Range(lo, hi - 1), Range(lo + 1, hi))
    ):
        if 0 < bound.extent < side.extent:
            yield bound


def _narrowed(scope: Scope, stage: Scope, position: int, bound: Range) -> Scope:
    domain = [*stage.domain[:position], bound, *stage.domain[position + 1 :]]
    first = len(stage.loops)
    changed = make_scope(domain[:first], domain[first:], stage.body, stage.reducer)
    return replace_sources(scope, {stage: changed})


def _from_zero(scope: Scope, stage: Scope, position: int) -> Scope:
    """One iterator renamed so that its range begins at 0; for loops that is another tensor."""
    rows = [affine.iterator(i) for i in range(len(stage.domain))]
    side = stage.domain[position]
    rows[position] = affine.shift(rows[position], side.lo)
    domain = [*stage.domain[:position], Range(0, side.extent), *stage.domain[position + 1 :]]
    first = len(stage.loops)
    body = substitute(stage.body, rows)
    changed = make_scope(domain[:first], domain[first:], body, stage.reducer)
    return replace_sources(scope, {stage: changed})


Change = Callable[[Access, Source], Node]
"""An access, and its source as it has become, to what stands in its place."""


def _redirected(scope: Scope, change: Change, instead: Mapping[Scope, Scope] = NOTHING) -> Scope:
    """The scope with every access of every stage changed, and stages replaced."""
    done: dict[Scope, Scope] = {}

    def on_access(access: Access) -> Node:
        source = access.source
        return change(access, done[source] if isinstance(source, Scope) else source)

    for stage in stages(scope):
        chosen = instead.get(stage, stage)
        body = rebuild(chosen.body, on_access)
        done[stage] = make_scope(chosen.loops, chosen.sums, body, chosen.reducer)
    return done[scope]


def _as_tensor(scope: Scope, stage: Scope) -> Scope:
    """A nested scope replaced by an input of its shape."""
    taken = tensors_of(scope)
    name = next(f"T{n}" for n in count() if f"T{n}" not in taken)
    tensor = expr.tensor(name, stage.shape)

    def change(access: Access, source: Source) -> Node:
        if access.source is not stage:
            return expr.access(source, access.rows, access.fill)
        pairs = zip(access.rows, stage.loops, strict=True)
        return expr.access(
            tensor, [affine.shift(row, -side.lo) for row, side in pairs], access.fill
        )

    return _redirected(scope, change)


def _without_loop(scope: Scope, stage: Scope, p: int) -> Scope:
    """A nested scope at the first value of one of its loops, which its readers leave out."""

    def change(access: Access, source: Source) -> Node:
        rows = access.rows
        if access.source is stage:
            rows = rows[:p] + rows[p + 1 :]
        return expr.access(source, rows, access.fill)

    return _redirected(scope, change, {stage: _fixed(stage, p, stage.loops[p].lo)})


def _with_loop(scope: Scope, stage: Scope, p: int, bound: Range) -> Scope:
    """A nested scope with a narrower loop; its readers read as before."""

    def change(access: Access, source: Source) -> Node:
        return expr.access(source, access.rows, access.fill)

    return _redirected(scope, change, {stage: _narrowed(stage, stage, p, bound)})


def _reshaped(scope: Scope, tensor: Tensor, d: int, extent: int | None) -> Scope:
    """The tensor with another extent in dimension d, or without that dimension."""
    kept = () if extent is None else (extent,)
    made = expr.tensor(tensor.name, (*tensor.shape[:d], *kept, *tensor.shape[d + 1 :]))

    def change(access: Access, source: Source) -> Node:
        if access.source is not tensor:
            return expr.access(source, access.rows, access.fill)
        rows = access.rows[:d] + access.rows[d + 1 - len(kept) :]
        return expr.access(made, rows, access.fill)

    return _redirected(scope, change)


def _simpler(node: Node) -> Iterator[Callable[[], Node]]:
    """Terms to stand in for the term: numbers, its operands, itself with an operand left out."""
    if not isinstance(node, Const):
        yield partial(expr.const, 1)
        yield partial(expr.const, 0)
    elif node.value not in (0, 1):
        yield partial(expr.const, 1)
    for child in children(node):
        yield partial(_same, child)
    if isinstance(node, Mul | Add):
        operands = node.factors if isinstance(node, Mul) else node.terms
        join = expr.mul if isinstance(node, Mul) else expr.add
        for k in range(len(operands)):
            yield partial(join, *operands[:k], *operands[k + 1 :])
    elif isinstance(node, Access):
        if node.fill:
            yield partial(expr.access, node.source, node.rows)
        for d, row in enumerate(node.rows):
            for less in _simpler_rows(row):
                rows = (*node.rows[:d], less, *node.rows[d + 1 :])
                if is_position(node):
                    yield partial(expr.position, less)
                else:
                    yield partial(expr.access, node.source, rows, node.fill)
    elif isinstance(node, Select):
        conditions = node.conditions
        for k, (relation, row) in enumerate(conditions):
            rest = (*conditions[:k], *conditions[k + 1 :])
            if rest:
                yield partial(expr.select, rest, node.then, node.otherwise)
            for less in _simpler_rows(row):
                changed = (*rest, Condition(relation, less))
                yield partial(expr.select, changed, node.then, node.otherwise)


def _same(node: Node) -> Node:
    return node


def _simpler_rows(row: Row) -> Iterator[Row]:
    """The row with a number made 0 or 1, a term left out, or the inside of a `//` in its place."""
    if row.const:
        yield Row(0, row.terms, row.floors)
    for k, (i, a) in enumerate(row.terms):
        rest = Row(row.const, (*row.terms[:k], *row.terms[k + 1 :]), row.floors)
        yield rest
        if a != 1:
            yield affine.add(rest, affine.iterator(i))
    for k, (inner, n, b) in enumerate(row.floors):
        rest = Row(row.const, row.terms, (*row.floors[:k], *row.floors[k + 1 :]))
        yield rest
        yield affine.add(rest, inner, b)
        for less in _simpler_rows(inner):
            yield affine.add(rest, affine.floordiv(less, n), b)
