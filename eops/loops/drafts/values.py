"""The values that a kernel computes at a point of its loops: a list, operands before their readers.

    v0 = X[40*i0 + i1];  v1 = total 0;  v2 = v0 + -1*v1;  v3 = exp(v2)

Each has a `kind`, the type that it is computed in (`kinds`); the operands of an operation have one
kind.  A value names others by their places in the list.  Equal values are one, so a value that
several stages compute is computed once.  Nothing is rearranged: a value rounds as its stage does.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, inf, lcm
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition, Number

MOST_LANES: Final = 8
"""This many steps of a loop at most are written as one."""
LEAST_PART: Final = 16
"""This many steps at least are worth a loop of their own."""
WRITTEN_OUT: Final = 16
"""Loops of fewer steps than this fill no vector of float32."""
DIVIDED: Final = "divided"
"""The operation x/y whose other operands are the parts of y, the last one its `scale`: fewer steps
than a division (`eops.cpu_kernels.words.quotients`)."""
ROUNDED: Final = {"float16": "as_float16", "bfloat16": "as_bfloat16"}
"""The operations that round a float32 to a half type, for each of these."""
HALF_OF: Final = {word: dtype for dtype, word in ROUNDED.items()}
MOST_CUTS: Final = 2
"""A loop is cut at this many steps at most, so that choices are made outside of it."""


class Segment(NamedTuple):
    """A part of a loop in which each row of `holds` is not negative, or negative, at all steps.
    These are `steps`; with `cut`, those of them before that row's first step, or from it on."""

    steps: Range
    holds: Mapping[Row, bool] = MappingProxyType({})
    cut: Row | None = None


class Checked(NamedTuple):
    """A dimension of a read that may miss: its index, from 0, its extent and its stride."""

    row: Row
    extent: int
    stride: int


class Picked(NamedTuple):
    """A part of an index that is computed: a value times `stride`, where the truth value `inside`
    holds; elsewhere `lo` takes the value's place, and nobody uses what is read."""

    value: int
    inside: int
    lo: int
    stride: int


@dataclass(frozen=True, slots=True)
class Constant:
    value: Number
    kind: str


@dataclass(frozen=True, slots=True)
class Position:
    """A row of iterators as a number."""

    row: Row
    kind: str


@dataclass(frozen=True, slots=True)
class Load:
    """A read: element `offset` of the operand, and for each checked dimension index times stride
    elements further, or the fill where an index misses; `picked` are the computed parts of the
    index.  `dtype` is the operand's type; `empty`: it has no element."""

    operand: int
    offset: Row
    checked: tuple[Checked, ...]
    fill: Number
    empty: bool
    dtype: str
    kind: str
    picked: tuple[Picked, ...] = ()

    def step(self, i: int) -> int:
        """By how much the element moves where the iterator moves by 1, quotients apart."""
        checked = sum(one.row.coefficient(i) * one.stride for one in self.checked)
        return self.offset.coefficient(i) + checked


@dataclass(frozen=True, slots=True)
class Within:
    """Whether a number is one of the integers `lo` to `hi - 1`."""

    arg: int
    lo: int
    hi: int
    kind: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: `+` and `*` of any number of values, `/` of two, a function of the notation, or
    a conversion, whose word is its kind.  The first operand of `choose` is a truth value."""

    word: str
    args: tuple[int, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of `args` where all conditions hold, else the second.  `border`: the conditions say
    where a stage has elements, so they hold inside and fail at the border."""

    conditions: tuple[Condition, ...]
    args: tuple[int, int]
    kind: str
    border: bool = False


@dataclass(frozen=True, slots=True)
class Total:
    """The result of a reduction of the kernel, at the same place of the shared loops."""

    reduction: int
    kind: str


@dataclass(frozen=True, slots=True)
class Windowed:
    """The element at these indices of a stage of which the kernel keeps a window.  Where an index
    misses, what is read means nothing."""

    window: int
    rows: tuple[Row, ...]
    kind: str


Value: TypeAlias = Constant | Position | Load | Within | Operation | Choice | Total | Windowed


@dataclass
class Values:
    """The list while it is made."""

    listed: list[Value] = field(default_factory=list)
    _places: dict[Value, int] = field(default_factory=dict)

    def place(self, value: Value) -> int:
        """The place of the value in the list.  A new value is added."""
        found = self._places.get(value)
        if found is None:
            found = self._places[value] = len(self.listed)
            self.listed.append(value)
        return found

    def with_root(self, x: int, kind: str, below: bool) -> Operation:
        """x^1.5 as x*sqrt(x), x^-1.5 as 1/sqrt(x)/x: in a fraction of the time of a power, and as
        exact.  At -inf, where the root is NaN, powers are inf and 0."""
        place = self.place
        root, one = place(Operation("sqrt", (x,), kind)), place(Constant(1, kind))
        found = Operation("*", (x, root), kind)
        if below:
            found = Operation("/", (place(Operation("/", (one, root), kind)), x), kind)
        end = place(Operation("equal", (x, place(Constant(-inf, kind))), "bool"))
        at_end = place(Constant(0 if below else inf, kind))
        return Operation("choose", (end, at_end, place(found)), kind)


def operands_of(value: Value) -> tuple[int, ...]:
    match value:
        case Operation(_, args) | Choice(_, args):
            return args
        case Within(arg):
            return (arg,)
        case Load(picked=picked):
            return tuple(place for one in picked for place in (one.value, one.inside))
    return ()


def with_operands(value: Value, at: Callable[[int], int]) -> Value:
    """The value with `at(place)` for the place of each operand."""
    match value:
        case Operation(_, args):
            return replace(value, args=tuple(map(at, args)))
        case Choice(_, (one, other)):
            return replace(value, args=(at(one), at(other)))
        case Within(arg):
            return replace(value, arg=at(arg))
        case Load(picked=picked):
            moved = [one._replace(value=at(one.value), inside=at(one.inside)) for one in picked]
            return replace(value, picked=tuple(moved))
    return value


def needed_for(
    values: Sequence[Value],
    ends: Iterable[int],
    known: Container[int] = (),
    chosen: Mapping[int, int] = MappingProxyType({}),
) -> tuple[int, ...]:
    """The places of the values that these are computed from, and these, operands first.  Those that
    are known need no operands; a choice that is made needs the one that is chosen."""
    pending, found = [*ends], set[int]()
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            if place in chosen:
                pending.append(chosen[place])
            elif place not in known:
                pending += operands_of(values[place])
    return tuple(sorted(found))


def rows_of(value: Value) -> tuple[Row, ...]:
    """The rows of iterators that the value itself has."""
    match value:
        case Position():
            return (value.row,)
        case Load():
            return (value.offset, *(one.row for one in value.checked))
        case Choice(conditions):
            return tuple(condition.row for condition in conditions)
        case Windowed():
            return value.rows
    return ()


def with_rows(value: Value, rows: Sequence[Row]) -> Value:
    """The value with these rows in the place of `rows_of`."""
    match value:
        case Position():
            return replace(value, row=rows[0])
        case Load():
            pairs = zip(value.checked, rows[1:], strict=True)
            moved = tuple(one._replace(row=row) for one, row in pairs)
            return replace(value, offset=rows[0], checked=moved)
        case Choice(conditions):
            held = tuple(Condition(c.relation, r) for c, r in zip(conditions, rows, strict=True))
            return replace(value, conditions=held)
        case Windowed():
            return replace(value, rows=tuple(rows))
    return value


def masks(values: Sequence[Value], shared: int) -> tuple[int, ...]:
    """The iterators that each value depends on, as bit sets; a total depends on all shared ones."""
    found: list[int] = []
    for value in values:
        mask = (1 << shared) - 1 if isinstance(value, Total) else 0
        for row in rows_of(value):
            mask |= affine.mask(row)
        for arg in operands_of(value):
            mask |= found[arg]
        found.append(mask)
    return tuple(found)


def lanes(rows: Iterable[Row], inner: int) -> int:
    """This many steps of a loop over the iterator are one in which no index of these is divided: in
    steps of two, (2*q + 1)//2 is q.  Quotients that need more than MOST_LANES stay."""
    found = 1
    for row in rows:
        for divided, n, _ in row.floors:
            if inner in affine.iterators(divided) and not divided.floors:
                joint = lcm(found, n // gcd(n, divided.coefficient(inner)))
                found = joint if joint <= MOST_LANES else found
    return found


def parts(rows: Iterable[Row], inner: int) -> tuple[tuple[Row, int], ...]:
    """The quotients, as rows and divisors, that stay the same for at least LEAST_PART steps of a
    loop over the iterator."""
    found: dict[tuple[Row, int], None] = {}
    for row in rows:
        for divided, n, _ in row.floors:
            step = divided.coefficient(inner)
            if step > 0 and not divided.floors and n >= LEAST_PART * step:
                found[divided, n] = None
    return tuple(found)


def cut_of(condition: Condition, inner: int) -> tuple[Row, bool] | None:
    """The condition as `row >= 0` with a row that rises with the iterator, or as its negation:
    the condition holds from some step of a loop on (True), or up to it (False).  None for others.

    -i + 4 >= 0 is not i - 5 >= 0."""
    row, step = condition.row, condition.row.coefficient(inner)
    within = any(inner in affine.iterators(divided) for divided, _, _ in row.floors)
    if condition.relation != ">=" or not step or within:
        return None
    return (row, True) if step > 0 else (affine.shift(affine.scale(row, -1), -1), False)


def chosen_with(
    values: Sequence[Value], places: Iterable[int], inner: int, holds: Mapping[Row, bool]
) -> dict[int, int]:
    """For each choice among the places that is made where these rows are not negative, or are:
    the place of the value that is chosen."""
    found: dict[int, int] = {}
    for place in places:
        value = values[place]
        if isinstance(value, Choice):
            cuts = [cut_of(condition, inner) for condition in value.conditions]
            known = [None if c is None or c[0] not in holds else holds[c[0]] is c[1] for c in cuts]
            if False in known:
                found[place] = value.args[1]
            elif None not in known:
                found[place] = value.args[0]
    return found


def segments(rows: Sequence[Row], inner: int, steps: Range, fixed: bool) -> tuple[Segment, ...]:
    """The parts of a loop that these rows, which rise with it, cut it into; `fixed`: at steps that
    are known now, where rows depend on no other iterator.  One row alone may depend on others."""
    alone = [row for row in rows if fixed and affine.iterators(row) == {inner}]
    firsts = {row: -(row.const // row.coefficient(inner)) for row in alone}
    cuts = sorted({first for first in firsts.values() if steps.lo < first < steps.hi})
    if 0 < len(cuts) <= MOST_CUTS:
        parts = zip([steps.lo, *cuts], [*cuts, steps.hi], strict=True)
        return tuple(
            Segment(Range(lo, hi), {row: first <= lo for row, first in firsts.items()})
            for lo, hi in parts
        )
    others = [row for row in rows if row not in firsts]
    if cuts or len(others) != 1:
        return (Segment(steps),)
    (row,) = others
    return tuple(Segment(steps, {row: holds}, row) for holds in (False, True))
