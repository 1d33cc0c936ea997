"""The values of a group's stages, over the kernel's iterators.

    T[i] = A[i]^2;  Y[i] = T[i-1] + T[i]        v0 = A[i-1];  v1 = v0*v0, else 0 where i-1 < 0;  ...

A stage without sums is written out where it is read, with the reader's rows for its iterators.
Where a row may leave its range, the fill is chosen instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Final, NamedTuple

from einderive.eops.dtypes import HALVES
from einderive.eops.loops.drafts.group import COMPUTED, Alignment, Group
from einderive.eops.loops.drafts.kinds import TRUTH, Compared, Typing, of_total
from einderive.eops.loops.drafts.picks import picked, summed
from einderive.eops.loops.drafts.values import (
    ROUNDED,
    Checked,
    Choice,
    Constant,
    Load,
    Operation,
    Picked,
    Position,
    Total,
    Value,
    Values,
    Windowed,
    Within,
)
from einderive.ta.facts.differences import bracketed
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
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

THREE_HALVES: Final = Fraction(3, 2)
WORDS: Final = {"sum": "+", "prod": "*", "max": "maximum", "min": "minimum"}
"""Of two values, what each reducer makes."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A total over the iterators `own`, at each place of the shared loops, summed up in `kind`."""

    reducer: str
    value: int
    kind: str
    own: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """A stage that is written: element `offset` of its tensor, of the type `dtype`, gets the value,
    for all iterators `own` at each place of the shared loops."""

    scope: Scope
    value: int
    own: tuple[int, ...]
    offset: Row
    dtype: str


@dataclass(frozen=True, slots=True)
class Element:
    """A stage of which the kernel keeps a window: its element at these indices has the value.  An
    index is an iterator that all who read the stage have there, or one of the window's own."""

    value: int
    rows: tuple[Row, ...]
    kind: str


class Elsewhere(Exception):
    """A gather reads what the kernel itself computes, or a window is kept of what nobody reads."""


class _Pick(NamedTuple):
    """An iterator whose value is computed: the value, and whether it is in the range."""

    iterator: int
    value: int
    inside: int


class _At(NamedTuple):
    """Where a term stands: in a stage, with these rows for its iterators, apart from those of which
    the values are computed."""

    stage: Scope
    rows: tuple[Row, ...]
    picks: tuple[_Pick, ...] = ()


@dataclass
class Bodies:
    """The values of a group while they are made; `strides` are those of its operands."""

    group: Group
    alignment: Alignment
    strides: Sequence[Sequence[int]]
    typing: Typing
    values: Values = field(default_factory=Values)
    reductions: list[Reduction] = field(default_factory=list)
    totals: dict[Source, int] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    windows: dict[Scope, Element] = field(default_factory=dict)
    _done: dict[tuple[Node, str, _At], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._compared = Compared(self.group, self.typing)
        self._kinds = dict(zip(self.group.stages, self.typing.stages, strict=True))
        self._operand = {source: k for k, source in enumerate(self.group.operands)}
        self._inside = {*self.group.stages}
        self.domain = self.alignment.domain
        self._window = {stage: k for k, stage in enumerate(self.group.windows)}
        self._read_at: dict[Scope, list[tuple[Row, ...]]] = {s: [] for s in self.group.windows}
        for stage in self.group.reductions:
            self._reduce(stage)
        for stage in self.group.outputs:
            self._write(stage)
        for stage in reversed(self.group.windows):
            self._keep(stage)

    def _reduce(self, stage: Scope) -> None:
        places = self.alignment.places[stage]
        own = tuple(sorted(places[i] for i in summed(stage)))
        kind = self._kinds[stage].compute
        value = self._body(stage, kind, _iterators(places))
        made = Reduction(stage.reducer, value, of_total(kind, stage.reducer), own)
        if made not in self.reductions:
            self.reductions.append(made)
        self.totals[stage] = self.reductions.index(made)

    def _write(self, stage: Scope) -> None:
        places = self.alignment.places[stage]
        rows = _iterators(places)
        offset, stride = affine.ZERO, 1
        for i in reversed(range(len(stage.loops))):
            offset = affine.add(offset, affine.shift(rows[i], -stage.loops[i].lo), stride)
            stride *= stage.loops[i].extent
        kind, dtype = self._kinds[stage]
        if stage in self.totals:
            value = self.values.place(Total(self.totals[stage], kind))
        else:
            value = self._written_out(stage, kind, rows[: len(stage.loops)])
        own = tuple(sorted(p for p in places[: len(stage.loops)] if p >= self.alignment.shared))
        self.outputs.append(Output(stage, value, own, offset, dtype))

    def _keep(self, stage: Scope) -> None:
        """The stage's value at a point of its own, among those that are read."""
        reads, rows = self._read_at[stage], list[Row]()
        if not reads:
            raise Elsewhere
        for side, indices in zip(stage.loops, zip(*reads, strict=True), strict=True):
            place = indices[0].lone
            if len({*indices}) == 1 and place is not None and place < self.alignment.shared:
                rows.append(indices[0])
                continue
            lows, highs = zip(*(affine.bounds(row, self.domain) for row in indices), strict=True)
            reached = Range(max(side.lo, min(lows)), min(side.hi, max(highs) + 1))
            if not reached.extent:
                raise Elsewhere
            rows.append(affine.iterator(len(self.domain)))
            self.domain += (reached,)
        kind, at = self._kinds[stage].compute, tuple(rows)
        self.windows[stage] = Element(self._written_out(stage, kind, at), at, kind)

    def _written_out(self, stage: Scope, kind: str, rows: tuple[Row, ...]) -> int:
        """The place of the stage's element, the terms of a sum side by side.  They are added in
        pairs, and pairs of these: 32 terms by five roundings, so that no wider type is needed."""
        sums = stage.domain[len(rows) :]
        if not sums or picked(stage) is not None:
            return self._body(stage, kind, rows)
        word, points = WORDS[stage.reducer], product(*(range(*side) for side in sums))
        terms = [self._body(stage, kind, (*rows, *map(affine.constant, at))) for at in points]
        while len(terms) > 1:
            pairs = [(*terms[k : k + 2],) for k in range(0, len(terms), 2)]
            terms = [
                self.values.place(Operation(word, pair, kind)) if len(pair) > 1 else pair[0]
                for pair in pairs
            ]
        return terms[0]

    def _body(self, stage: Scope, kind: str, rows: tuple[Row, ...]) -> int:
        """The place of the stage's term; of a gather, the one term or nothing."""
        found = picked(stage)
        if found is None:
            return self._value(stage.body, kind, _At(stage, rows))
        rows += (affine.ZERO,) * (len(stage.domain) - len(rows))
        at, picks = _At(stage, rows), []
        for v, node in found.values.items():
            value, (lo, hi) = (
                self._value(node, self._compared.tested([node], at.stage), at),
                stage.domain[v],
            )
            picks.append(_Pick(v, value, self.values.place(Within(value, lo, hi, TRUTH))))
        made = self._value(found.body, kind, at._replace(picks=tuple(picks)))
        nothing = self.values.place(Constant(REDUCERS[stage.reducer].identity, kind))
        for pick in picks:
            made = self.values.place(Operation("choose", (pick.inside, made, nothing), kind))
        return made

    def _value(self, node: Node, kind: str, at: _At) -> int:
        """The place of the term's value in this type."""
        rows = tuple(at.rows[i] for i in affine.bits(node.free))
        key = node, kind, at._replace(rows=rows)
        if (found := self._done.get(key)) is None:
            found = self._done[key] = self.values.place(self._made(node, kind, at))
        return found

    def _made(self, node: Node, kind: str, at: _At) -> Value:
        known = FUNCTIONS[node.function] if isinstance(node, Apply) else None
        truth = known is not None and known.truth
        own = TRUTH if truth else self._compared.part(node, at.stage, kind)
        if own != kind:
            return Operation(kind, (self._value(node, own, at),), kind)
        if kind == TRUTH and not truth:
            own = self._compared.tested([node], at.stage)
            zero = self.values.place(Constant(0, own))
            return Operation("not_equal", (self._value(node, own, at), zero), TRUTH)
        match node:
            case Const():
                return Constant(node.value, kind)
            case Access():
                return self._read(node, kind, at)
            case Add():
                args = [self._value(term, kind, at) for term in bracketed(node).terms]
                return Operation("+", _ordered(args), kind)
            case Mul():
                return self._product(node.factors, kind, at)
            case Power():
                return self._product((node,), kind, at)
            case Apply():
                return self._applied(node, kind, at)
            case Select():
                rows = [self._row(c.row, at) for c in node.conditions]
                pairs = zip(node.conditions, rows, strict=True)
                held = tuple(Condition(c.relation, row) for c, row in pairs)
                of = (self._value(node.then, kind, at), self._value(node.otherwise, kind, at))
                return Choice(held, of, kind)
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def _applied(self, node: Apply, kind: str, at: _At) -> Operation:
        exponent = node.args[1] if node.function == "pow" else None
        if isinstance(exponent, Const) and abs(exponent.value) == THREE_HALVES:
            x = self._value(node.args[0], kind, at)
            return self.values.with_root(x, kind, exponent.value < 0)
        if kind == TRUTH:
            return Operation(node.function, self._operands(node.args, at), kind)
        kinds = [kind] * len(node.args)
        if FUNCTIONS[node.function].picks:
            kinds[0] = TRUTH
        pairs = zip(node.args, kinds, strict=True)
        return Operation(node.function, tuple(self._value(*pair, at) for pair in pairs), kind)

    def _operands(self, operands: Sequence[Node], at: _At) -> tuple[int, ...]:
        """Of a comparison: each as its own stage would give it, in the type that holds all."""
        common, owns = self._compared.operands(operands, at.stage)
        found = []
        for operand, own in zip(operands, owns, strict=True):
            value = self._value(operand, own.compute if own else common, at)
            if own and own.result in HALVES:
                rounded = Operation(ROUNDED[own.result], (value,), own.compute)
                value = self.values.place(rounded)
            found.append(self.values.place(self._converted(self.values.listed[value], common)))
        return tuple(found)

    def _product(self, factors: Sequence[Node], kind: str, at: _At) -> Value:
        """Factors first, then a division, as a division is more exact than a reciprocal."""
        above: list[int] = []
        below: list[int] = []
        for factor in factors:
            if isinstance(factor, Power):
                part = below if factor.exponent < 0 else above
                part += [self._value(factor.base, kind, at)] * abs(factor.exponent)
            else:
                above.append(self._value(factor, kind, at))
        product = self._multiplied(above or [self.values.place(Constant(1, kind))], kind)
        if below:
            divisor = self.values.place(self._multiplied(below, kind))
            return Operation("/", (self.values.place(product), divisor), kind)
        return product

    def _multiplied(self, factors: Sequence[int], kind: str) -> Value:
        if len(factors) == 1:
            return self.values.listed[factors[0]]
        return Operation("*", _ordered(factors), kind)

    def _row(self, row: Row, at: _At) -> Row:
        return affine.simplify(affine.substitute(row, at.rows), self.domain)

    def _read(self, access: Access, kind: str, at: _At) -> Value:
        rows = tuple(self._row(row, at) for row in access.rows)
        source = access.source
        fixed = [pick for pick in at.picks if access.free >> pick.iterator & 1]
        if fixed:
            return self._picked(access, kind, rows, fixed)
        if source is INDEX:
            return Position(rows[0], kind)
        if isinstance(source, Scope) and source in self.totals:
            return self._converted(Total(self.totals[source], self._kinds[source].compute), kind)
        if isinstance(source, Scope) and source in self._inside:
            return self._of_stage(source, rows, access.fill, kind)
        return self._load(source, rows, access.fill, kind)

    def _picked(
        self, access: Access, kind: str, rows: tuple[Row, ...], fixed: Sequence[_Pick]
    ) -> Load:
        """The read at a computed index; `rows` are 0 in the place of what is computed."""
        if access.source in self._inside:
            raise Elsewhere
        operand, domain = self._operand[access.source], self.domain
        offset, parts = affine.ZERO, list[Picked]()
        strides = self.strides[operand]
        for row, own, bound, stride in zip(
            rows, access.rows, access.source.ranges, strides, strict=True
        ):
            index = affine.simplify(affine.shift(row, -bound.lo), domain)
            low, high = affine.bounds(index, domain)
            for pick in fixed:
                step = own.coefficient(pick.iterator)
                value = self.values.listed[pick.inside]
                assert isinstance(value, Within)
                ends = sorted((step * value.lo, step * (value.hi - 1)))
                low, high = low + ends[0], high + ends[1]
                if step:
                    parts.append(Picked(pick.value, pick.inside, value.lo, step * stride))
            if low < 0 or high >= bound.extent:
                raise Elsewhere
            offset = affine.add(offset, index, stride)
        dtype = self.typing.operands[operand]
        return Load(operand, offset, (), access.fill, False, dtype, kind, tuple(parts))

    def _converted(self, value: Value, kind: str) -> Value:
        return value if value.kind == kind else Operation(kind, (self.values.place(value),), kind)

    def _of_stage(self, stage: Scope, rows: tuple[Row, ...], fill: Number, kind: str) -> Value:
        """An element of a stage without loops of its own."""
        own = self._kinds[stage].compute
        if stage in self._window:
            self._read_at[stage].append(rows)
            found: Value = Windowed(self._window[stage], rows, own)
        else:
            found = self.values.listed[self._written_out(stage, own, rows)]
        value = self._converted(found, kind)
        held: list[Condition] = []
        for row, side in zip(rows, stage.loops, strict=True):
            low, high = affine.bounds(row, self.domain)
            if low < side.lo:
                held.append(Condition(">=", affine.shift(row, -side.lo)))
            if high >= side.hi:
                held.append(Condition(">=", affine.add(affine.constant(side.hi - 1), row, -1)))
        if not held:
            return value
        of = self.values.place(value), self.values.place(Constant(fill, kind))
        return Choice(tuple(held), of, kind, border=True)

    def _load(self, source: Source, rows: tuple[Row, ...], fill: Number, kind: str) -> Load:
        operand, domain = self._operand[source], self.domain
        offset, checked = affine.ZERO, []
        for row, bound, stride in zip(rows, source.ranges, self.strides[operand], strict=True):
            index = affine.simplify(affine.shift(row, -bound.lo), domain)
            low, high = affine.bounds(index, domain)
            if low < 0 or high >= bound.extent:
                checked.append(Checked(index, bound.extent, stride))
            else:
                offset = affine.add(offset, index, stride)
        empty = any(bound.extent == 0 for bound in source.ranges)
        dtype = self.typing.operands[operand]
        return Load(operand, offset, tuple(checked), fill, empty, dtype, kind)


def _iterators(places: Sequence[int]) -> tuple[Row, ...]:
    return tuple(affine.ZERO if p == COMPUTED else affine.iterator(p) for p in places)


def _ordered(args: Sequence[int]) -> tuple[int, ...]:
    """Two operands in one order, whatever the order that they are written in; the order of more of
    them decides how they round."""
    return tuple(sorted(args)) if len(args) == 2 else tuple(args)
