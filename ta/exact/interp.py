"""The meaning of a scope: its value at every point of its loops, by definition.

    {L[x in X] S[y in Y] f(x, y)}  at x  =  the reduction over y in Y of f(x, y)
    A[r(x, y)]                           =  A at r(x, y), or the fill where r leaves A's ranges

All other parts are judged by this one.  The iteration space is walked in blocks; inside a block
every iterator is an array of its own axis, so each sub-term is computed only over the iterators
that occur in it.  A nested scope is a table filled once, or where it is read.

A reduction of which an equality leaves one term, as in a gather, is that term (`one_term.py`) in
the fields that know which numbers are whole; in the others functions are opaque, `equal` too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from einderive.ta.exact.blocks import MOST_FLAT, Indices, blocks, flat, unflat
from einderive.ta.exact.fields import Array, Field
from einderive.ta.exact.one_term import OneTerm, one_term
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range
from einderive.ta.ir.positions import INDEX, is_input
from einderive.ta.ir.subst import accesses, fold, is_infinite, nested_scopes, sources, stages, walk

Values: TypeAlias = Array | Callable[[Indices], Array]
"""The values of a tensor: an array, or a function from positions in its flat box to integers."""

MOST_KEPT = 1 << 24
"""A nested scope of at most this many elements is kept as a table; a larger one is evaluated
where it is read, each time."""
LITTLE_WORK = 1 << 16
"""A nested scope whose iteration space is no larger is evaluated as a whole at once."""
MOST_READ = 0.25
"""If more than this share of a nested scope is read, it is evaluated as a whole, which is cheaper:
its iterators then have axes of their own."""


def evaluate(scope: ir.Scope, values: Mapping[str, Values], domain: Field) -> Array:
    """The scope over the whole box of its loops; array index 0 stands for a loop's `lo`.

    `values` holds for each tensor, by name, one array or a function from flat positions to
    integers (see `ta.exact.sampled`); integers fit every domain.  Each distinct
    nested scope is evaluated once.  Raises KeyError for a tensor without values, ValueError for a
    wrong shape or for numbers that the domain does not have.
    """
    with np.errstate(all="ignore"):
        evaluation = _Evaluation(values, domain, eager=True)
        evaluation.fill(scope)
        return evaluation.whole(scope).reshape(scope.shape)


def evaluate_at(
    scope: ir.Scope, points: npt.ArrayLike, values: Mapping[str, Values], domain: Field
) -> Array:
    """The scope at the given index points, shape (P, loops) -> (P,).

    Nested scopes are evaluated only where these points need them.  Raises ValueError for a point
    outside the loops.
    """
    indices = np.asarray(points, dtype=np.int64)
    if indices.ndim != 2 or indices.shape[1] != len(scope.loops):
        raise ValueError(f"points of shape {indices.shape} for {len(scope.loops)} loops")
    for column, (lo, hi) in zip(indices.T, scope.loops, strict=True):
        if column.size and (column.min() < lo or column.max() >= hi):
            raise ValueError(f"a point outside the loop range {lo}:{hi}")
    with np.errstate(all="ignore"):
        evaluation = _Evaluation(values, domain, eager=False)
        evaluation.fill(scope)
        return evaluation.at(scope, indices)


class _Table:
    """The values of a nested scope known so far, flat; `known` is None where all are."""

    def __init__(self, values: Array, known: npt.NDArray[np.bool_] | None) -> None:
        self.values, self.known = values, known


class _Evaluation:
    """One evaluation: the tensors' values and the tables of the nested scopes."""

    def __init__(self, values: Mapping[str, Values], field: Field, *, eager: bool) -> None:
        self.values, self.field, self.eager = values, field, eager
        self.tables: dict[ir.Scope, _Table] = {}
        self.tensors: dict[ir.Tensor, Array] = {}
        self.fixed: dict[ir.Scope, OneTerm | None] = {}

    def fill(self, scope: ir.Scope) -> None:
        """The tables of the nested scopes that are evaluated as a whole, producers first: a long
        chain of them is then no deep recursion."""
        for stage in stages(scope)[:-1]:
            if math.prod(stage.shape) <= MOST_KEPT and self.at_once(stage):
                self.tables[stage] = _Table(self.whole(stage), None)

    def at_once(self, scope: ir.Scope) -> bool:
        """Whether little work gives all values, that of the scopes which it reads counted: of those
        that are no table yet, a few values may be all that is needed."""
        if self.eager:
            return True
        little = min(LITTLE_WORK, self.field.block)
        if math.prod(r.extent for r in scope.domain) > little:
            return False
        return all(source in self.tables for source in nested_scopes(scope))

    def whole(self, scope: ir.Scope) -> Array:
        """All values of the scope, flat."""
        result = np.empty(scope.shape, dtype=self.field.dtype)
        for block in blocks(scope.shape, self.terms(scope), self.field):
            axes = _axes(block, scope.loops)
            found = self.block(scope, np.ix_(*axes), tuple(map(len, axes)))
            np.copyto(result[block] if block else result, found)
        return result.reshape(-1)

    def at(self, scope: ir.Scope, points: Indices) -> Array:
        """The values at the points, one each."""
        result = np.empty(len(points), dtype=self.field.dtype)
        for block in blocks((len(points),), self.terms(scope), self.field):
            chosen = points[block]
            result[block] = self.block(scope, list(chosen.T), (len(chosen),))
        return result

    def one_term(self, scope: ir.Scope) -> OneTerm | None:
        """The equalities that fix iterators of the reduction, if the field knows whole numbers."""
        if not self.field.knows_whole or not all(r.extent for r in scope.sums):
            return None
        if scope not in self.fixed:
            self.fixed[scope] = one_term(scope)
        return self.fixed[scope]

    def terms(self, scope: ir.Scope) -> int:
        """The number of terms that a reduction visits."""
        return math.prod(bound.extent for bound in self.summed(scope))

    def summed(self, scope: ir.Scope) -> list[Range]:
        """The ranges of the reduction's iterators, without those that equalities fix."""
        fixed = self.one_term(scope)
        known = fixed.values if fixed else ()
        return [r for i, r in enumerate(scope.sums, len(scope.loops)) if i not in known]

    def block(self, scope: ir.Scope, loops: Sequence[Indices], shape: tuple[int, ...]) -> Array:
        """The reduction where loop iterator i has the values loops[i], which broadcast to shape."""
        field, sums = self.field, self.summed(scope)
        extents = tuple(bound.extent for bound in sums)
        if not extents:
            return np.broadcast_to(self.body(scope, loops), shape)
        total = np.broadcast_to(field.identity(scope.reducer), shape)
        outer = [index.reshape(index.shape + (1,) * len(extents)) for index in loops]
        for part in blocks(extents, 1, field, math.prod(shape)):
            axes = _axes(part, sums)
            body = self.body(scope, [*outer, *np.ix_(*axes)])
            full = np.broadcast_to(body, shape + tuple(map(len, axes)))
            reduced = field.reduce(scope.reducer, full, len(extents))
            total = field.combine(scope.reducer, total, reduced)
        return total

    def body(self, scope: ir.Scope, iterators: Sequence[Indices]) -> Array:
        """The body's values; `iterators` are those that no equality fixes."""
        fixed = self.one_term(scope)
        if fixed is None:
            return self.value(scope.body, scope.domain, iterators)
        free = iter(iterators)
        nowhere = np.zeros((), dtype=np.int64)
        known = [nowhere if i in fixed.values else next(free) for i in range(len(scope.domain))]
        inside: Array = np.ones((), dtype=np.bool_)
        for v, e in fixed.values.items():
            place, whole = self.field.whole(self.value(e, scope.domain, known))
            lo, hi = scope.domain[v]
            inside = inside & whole & (place >= lo) & (place < hi)
            known[v] = np.clip(place, lo, hi - 1)
        body = self.value(fixed.body, scope.domain, known)
        return np.where(inside, body, self.field.identity(scope.reducer))

    def value(self, body: ir.Node, domain: Sequence[Range], iterators: Sequence[Indices]) -> Array:
        """The values of a scalar expression."""
        return value_of(
            body,
            self.field,
            lambda access: self.access(access, domain, iterators),
            lambda condition: _holds(condition, iterators),
        )

    def access(
        self, access: ir.Access, ranges: Sequence[Range], iterators: Sequence[Indices]
    ) -> Array:
        """The source's values where the rows are inside its ranges, the fill elsewhere."""
        if access.source is INDEX:
            return self.field.convert(affine.evaluate(access.rows[0], iterators.__getitem__))
        columns: list[Indices] = []
        inside: Array | None = None
        for row, bound in zip(access.rows, access.source.ranges, strict=True):
            index = np.asarray(affine.evaluate(row, iterators.__getitem__))
            low, high = affine.bounds(row, ranges)
            if low < bound.lo or high >= bound.hi:
                valid = (index >= bound.lo) & (index < bound.hi)
                inside = valid if inside is None else inside & valid
            columns.append(index - bound.lo)
        if math.prod(access.source.shape) > MOST_FLAT and isinstance(access.source, ir.Scope):
            return self.far(access, columns, inside)
        position = flat(columns, access.source.shape)
        if inside is None:
            return self.lookup(access.source, position)
        position, inside = np.broadcast_arrays(position, inside)
        result = np.full(position.shape, self.field.constant(access.fill), dtype=self.field.dtype)
        result[inside] = self.lookup(access.source, position[inside])
        return result

    def far(self, access: ir.Access, columns: Sequence[Indices], inside: Array | None) -> Array:
        """The values of a nested scope of which the positions are not counted in 64 bits."""
        source = access.source
        assert isinstance(source, ir.Scope)
        shapes = [c.shape for c in columns] + ([] if inside is None else [inside.shape])
        shape = np.broadcast_shapes(*shapes)
        known = np.broadcast_to(True if inside is None else inside, shape)
        points = np.stack([np.broadcast_to(c, shape)[known] for c in columns], axis=1)
        points = points + np.array([loop.lo for loop in source.loops], dtype=np.int64)
        unique, inverse = np.unique(points, axis=0, return_inverse=True)
        result = np.full(shape, self.field.constant(access.fill), dtype=self.field.dtype)
        if len(unique):
            result[known] = self.at(source, unique)[inverse.reshape(-1)]
        return result

    def lookup(self, source: ir.Source, positions: Indices) -> Array:
        """The source's values at positions of its flat box."""
        if isinstance(source, ir.Tensor):
            given = self.values[source.name]
            if callable(given):
                return self.field.convert(given(positions))
            return np.asarray(self.tensor(source).take(positions), dtype=self.field.dtype)
        if positions.size == 0:
            return np.empty(positions.shape, dtype=self.field.dtype)
        size = math.prod(source.shape)
        if size > MOST_KEPT:
            unique, inverse = np.unique(positions, return_inverse=True)
            values = self.at(source, unflat(source, unique))
            return np.asarray(values[inverse].reshape(positions.shape))
        table = self.table(source, size, positions)
        return np.asarray(table.take(positions), dtype=self.field.dtype)

    def table(self, scope: ir.Scope, size: int, positions: Indices) -> Array:
        """The flat values of a nested scope, known at least at the positions."""
        table = self.tables.get(scope)
        if table is None:
            empty = np.empty(size, dtype=self.field.dtype)
            table = self.tables[scope] = _Table(empty, np.zeros(size, dtype=np.bool_))
        if table.known is None:
            return table.values
        wanted = np.zeros(size, dtype=np.bool_)
        wanted[positions] = True
        wanted &= ~table.known
        missing = np.flatnonzero(wanted)
        if len(missing) > MOST_READ * size:
            table.values, table.known = self.whole(scope), None
        elif len(missing):
            table.values[missing] = self.at(scope, unflat(scope, missing))
            table.known[missing] = True
        return table.values

    def tensor(self, tensor: ir.Tensor) -> Array:
        """The flat values of a tensor."""
        found = self.tensors.get(tensor)
        if found is None:
            given = self.values[tensor.name]
            assert not callable(given)  # `lookup` asks functions itself
            values = self.field.convert(given)
            if values.shape != tensor.shape:
                raise ValueError(f"{tensor.name} is {tensor.shape}, its values are {values.shape}")
            found = self.tensors[tensor] = values.reshape(-1)
        return found


def _axes(block: Sequence[slice], ranges: Sequence[Range]) -> list[Indices]:
    """The values of each iterator in the block."""
    both = zip(block, ranges, strict=True)
    return [np.arange(s.start, s.stop, dtype=np.int64) + r.lo for s, r in both]


def _undecided(condition: ir.Condition) -> Array:
    raise TypeError("a condition on iterators, of which there are none")


def value_of(
    body: ir.Node,
    field: Field,
    read: Callable[[ir.Access], Array],
    holds: Callable[[ir.Condition], Array] = _undecided,
) -> Array:
    """The values of a scalar expression, from those of its reads and conditions."""

    def value(node: ir.Node, parts: tuple[Array, ...]) -> Array:
        match node:
            case ir.Const():
                return field.constant(node.value)
            case ir.Access():
                return read(node)
            case ir.Mul():
                return reduce(field.multiply, parts)
            case ir.Add():
                return reduce(field.add, parts)
            case ir.Power():
                return field.power(parts[0], node.exponent)
            case ir.Apply():
                return field.apply(node.function, *parts)
            case ir.Select():
                return np.where(reduce(np.logical_and, map(holds, node.conditions)), *parts)
        raise TypeError(f"{type(node).__name__} is no scalar expression")

    return fold(body, value)


def _holds(condition: ir.Condition, iterators: Sequence[Indices]) -> Array:
    value = np.asarray(affine.evaluate(condition.row, iterators.__getitem__))
    return value >= 0 if condition.relation == ">=" else value == 0


def visited(roots: Sequence[ir.Scope], count: int) -> int:
    """An upper bound on the number of iteration points for `count` points of each of the scopes."""
    order = stages(*roots)
    needed = dict.fromkeys(order, 0) | {root: min(count, root.size) for root in roots}
    total = 0
    for stage in reversed(order):
        inner = needed[stage] * math.prod(side.extent for side in stage.sums)
        total += inner
        for source in (read.source for read in accesses(stage.body)):
            if isinstance(source, ir.Scope):
                needed[source] = min(needed[source] + inner, source.size)
    return total


def affordable(roots: Sequence[ir.Scope], count: int, most: int) -> int:
    """`count`, halved until this many points of each of the scopes visit at most `most` points."""
    while count and visited(roots, count) > most:
        count //= 2
    return count


def input_tensors(*roots: ir.Scope) -> tuple[ir.Tensor, ...]:
    """The distinct tensors that the scopes read, directly or through other scopes, in the order of
    the first read."""
    found = (source for stage in stages(*roots) for source in sources(stage.body))
    read = (source for source in found if isinstance(source, ir.Tensor) and is_input(source))
    return tuple(dict.fromkeys(read))


def uses_order(stage: ir.Scope) -> bool:
    """Whether residues cannot evaluate the stage: it has a max, a min, an infinity, or a function
    with exact values, such as one that compares or rounds."""
    if REDUCERS[stage.reducer].order:
        return True
    return any(
        is_infinite(node)
        or (isinstance(node, ir.Apply) and FUNCTIONS[node.function].on_rationals is not None)
        for node in walk(stage.body)
    )
