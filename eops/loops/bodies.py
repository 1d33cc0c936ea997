"""The values of a group's stages, over the kernel's iterators.

    T[i] = A[i]^2;  Y[i] = T[i-1] + T[i]        v0 = A[i-1];  v1 = v0*v0, else 0 where i-1 < 0;  ...

A stage without sums is written out where it is read, with the reader's rows for its iterators.
Where a row may leave its range, the fill is chosen instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from einderive.eops.loops.group import Alignment, Group
from einderive.eops.loops.values import (
    Checked,
    Choice,
    Constant,
    Load,
    Operation,
    Position,
    Total,
    Value,
    Values,
)
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Scope,
    Select,
    Source,
)
from einderive.ta.ir.positions import INDEX

ONE = Constant(1)


@dataclass(frozen=True, slots=True)
class Reduction:
    """A total over the iterators `own`, at each place of the shared loops."""

    reducer: str
    value: int
    own: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """A stage that is written: element `offset` of its tensor gets the value, for all iterators
    `own` at each place of the shared loops."""

    scope: Scope
    value: int
    own: tuple[int, ...]
    offset: Row


@dataclass
class Bodies:
    """The values of a group while they are made; `strides` are those of its operands."""

    group: Group
    alignment: Alignment
    strides: Sequence[Sequence[int]]
    values: Values = field(default_factory=Values)
    reductions: list[Reduction] = field(default_factory=list)
    totals: dict[Source, int] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    _done: dict[tuple[Node, tuple[Row, ...]], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._operand = {source: k for k, source in enumerate(self.group.operands)}
        self._inside = {*self.group.stages}
        for stage in self.group.stages:
            if stage.sums:
                self._reduce(stage)
        for stage in self.group.outputs:
            self._write(stage)

    def _reduce(self, stage: Scope) -> None:
        places = self.alignment.places[stage]
        rows = tuple(affine.iterator(place) for place in places)
        own = tuple(sorted(places[len(stage.loops) :]))
        made = Reduction(stage.reducer, self._value(stage.body, rows), own)
        if made not in self.reductions:
            self.reductions.append(made)
        self.totals[stage] = self.reductions.index(made)

    def _write(self, stage: Scope) -> None:
        places = self.alignment.places[stage]
        rows = tuple(affine.iterator(place) for place in places)
        offset, stride = affine.ZERO, 1
        for i in reversed(range(len(stage.loops))):
            offset = affine.add(offset, affine.shift(rows[i], -stage.loops[i].lo), stride)
            stride *= stage.loops[i].extent
        if stage.sums:
            value = self.values.place(Total(self.totals[stage]))
        else:
            value = self._value(stage.body, rows)
        own = tuple(sorted(p for p in places[: len(stage.loops)] if p >= self.alignment.shared))
        self.outputs.append(Output(stage, value, own, offset))

    def _value(self, node: Node, rows: tuple[Row, ...]) -> int:
        """The place of the term's value, with these rows for its iterators."""
        key = node, tuple(rows[i] for i in affine.bits(node.free))
        found = self._done.get(key)
        if found is None:
            found = self._done[key] = self.values.place(self._made(node, rows))
        return found

    def _made(self, node: Node, rows: tuple[Row, ...]) -> Value:
        match node:
            case Const():
                return Constant(node.value)
            case Access():
                return self._read(node, rows)
            case Add():
                return self._operation("+", node.terms, rows)
            case Mul():
                return self._product(node.factors, rows)
            case Power():
                return self._product((node,), rows)
            case Apply():
                return self._operation(node.function, node.args, rows)
            case Select():
                held = tuple(Condition(c.relation, self._row(c.row, rows)) for c in node.conditions)
                return Choice(
                    held, (self._value(node.then, rows), self._value(node.otherwise, rows))
                )
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def _operation(self, word: str, nodes: Sequence[Node], rows: tuple[Row, ...]) -> Operation:
        args = [self._value(node, rows) for node in nodes]
        return Operation(word, _ordered(args) if word == "+" else tuple(args))

    def _product(self, factors: Sequence[Node], rows: tuple[Row, ...]) -> Value:
        """Factors first, then a division, as a division is more exact than a reciprocal."""
        above: list[int] = []
        below: list[int] = []
        for factor in factors:
            if isinstance(factor, Power):
                part = below if factor.exponent < 0 else above
                part += [self._value(factor.base, rows)] * abs(factor.exponent)
            else:
                above.append(self._value(factor, rows))
        product = self._multiplied(above or [self.values.place(ONE)])
        if below:
            divisor = self.values.place(self._multiplied(below))
            return Operation("/", (self.values.place(product), divisor))
        return product

    def _multiplied(self, factors: Sequence[int]) -> Value:
        if len(factors) == 1:
            return self.values.listed[factors[0]]
        return Operation("*", _ordered(factors))

    def _row(self, row: Row, rows: tuple[Row, ...]) -> Row:
        return affine.simplify(affine.substitute(row, rows), self.alignment.domain)

    def _read(self, access: Access, outer: tuple[Row, ...]) -> Value:
        rows = tuple(self._row(row, outer) for row in access.rows)
        source = access.source
        if source is INDEX:
            return Position(rows[0])
        if source in self.totals:
            return Total(self.totals[source])
        if isinstance(source, Scope) and source in self._inside:
            return self._inlined(source, rows, access.fill)
        return self._load(source, rows, access.fill)

    def _inlined(self, stage: Scope, rows: tuple[Row, ...], fill: Number) -> Value:
        value = self._value(stage.body, rows)
        held: list[Condition] = []
        for row, side in zip(rows, stage.loops, strict=True):
            low, high = affine.bounds(row, self.alignment.domain)
            if low < side.lo:
                held.append(Condition(">=", affine.shift(row, -side.lo)))
            if high >= side.hi:
                held.append(Condition(">=", affine.add(affine.constant(side.hi - 1), row, -1)))
        if not held:
            return self.values.listed[value]
        return Choice(tuple(held), (value, self.values.place(Constant(fill))), border=True)

    def _load(self, source: Source, rows: tuple[Row, ...], fill: Number) -> Load:
        operand, domain = self._operand[source], self.alignment.domain
        offset, checked = affine.ZERO, []
        for row, bound, stride in zip(rows, source.ranges, self.strides[operand], strict=True):
            index = affine.simplify(affine.shift(row, -bound.lo), domain)
            low, high = affine.bounds(index, domain)
            if low < 0 or high >= bound.extent:
                checked.append(Checked(index, bound.extent, stride))
            else:
                offset = affine.add(offset, index, stride)
        empty = any(bound.extent == 0 for bound in source.ranges)
        return Load(operand, offset, tuple(checked), fill, empty)


def _ordered(args: Sequence[int]) -> tuple[int, ...]:
    """Two operands in one order, whatever the order that they are written in; the order of more of
    them decides how they round."""
    return tuple(sorted(args)) if len(args) == 2 else tuple(args)
