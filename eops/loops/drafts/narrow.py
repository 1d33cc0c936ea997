"""Whole numbers in 32 bits where all of them fit, so that a vector holds twice as many.

    N[i] = sum[j](where(X[i,j] > 2, 1, 0)),  j in 0:1000      lies in 0..1000: counted in int32
    K[i] = min[j](where(X[i,j] == M[i], j, 2^53))             2^53 stands there as 2^31 - 1

The span of a value follows from those of its operands.  A total of whole numbers is the same in
every type that holds them, so one in float64 is counted in int32 as well.  Whatever else reads a
narrow value reads it converted.  In a minimum (maximum) one constant may lie beyond the span, above
(below) it: the greatest (least) int32 stands for it until the total is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Final, NamedTuple

from einderive.eops.dtypes import LIMITS
from einderive.eops.loops.drafts.bodies import Reduction
from einderive.eops.loops.drafts.draft import Draft
from einderive.eops.loops.drafts.kinds import TRUTH
from einderive.eops.loops.drafts.values import (
    Choice,
    Constant,
    Load,
    Operation,
    Position,
    Total,
    Value,
    Values,
    with_operands,
)
from einderive.ta.ir import affine
from einderive.ta.ir.node import Number

NARROW: Final = "int32"
WIDE: Final = "int64"
LEAST, GREATEST = LIMITS[NARROW]
EXACT: Final = 1 << 24
"""All whole numbers up to this are numbers of float32."""
SAME: Final = frozenset({"floor", "ceil", "round", "trunc"})


class Span(NamedTuple):
    """The least and the greatest value; `far`: a constant beyond int32 that may stand there too."""

    low: int
    high: int
    far: Number | None = None

    @property
    def fits(self) -> bool:
        if self.far is None:
            return self.low >= LEAST and self.high <= GREATEST
        return self.low > LEAST and self.high < GREATEST

    @property
    def mark(self) -> int:
        """What stands for the far constant."""
        assert self.far is not None
        return GREATEST if self.far > 0 else LEAST

    def united(self, other: Span) -> Span | None:
        if None not in (self.far, other.far) and self.far != other.far:
            return None
        far = self.far if other.far is None else other.far
        return Span(min(self.low, other.low), max(self.high, other.high), far)


NOWHERE: Final = (GREATEST - 1, LEAST + 1)
"""The span of no value: united with another one, that one is left."""


def narrowed(draft: Draft) -> Draft:
    """The draft with whole numbers in int32 where they fit."""
    return _Narrowing(draft).found()


@dataclass
class _Narrowing:
    draft: Draft
    made: Values = field(default_factory=Values)
    _kept: dict[int, int] = field(default_factory=dict)
    _narrow: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = self.draft.values
        self.spans: list[Span | None] = []
        for value in self.values:
            span = self._span(value)
            self.spans.append(span if span is not None and span.fits else None)

    def found(self) -> Draft:
        reductions = []
        for k, made in enumerate(self.draft.reductions):
            narrow = self._total(k) is not None
            value = self.narrow(made.value) if narrow else self.keep(made.value)
            kind = NARROW if narrow else made.kind
            reductions.append(replace(made, value=value, kind=kind))
        outputs = tuple(replace(o, value=self.keep(o.value)) for o in self.draft.outputs)
        values = tuple(self.made.listed)
        return replace(self.draft, values=values, reductions=tuple(reductions), outputs=outputs)

    def _span(self, value: Value) -> Span | None:
        match value:
            case Constant(number):
                return _of_constant(number)
            case Position(row, kind):
                low, high = affine.bounds(row, self.draft.domain)
                exact = kind == WIDE or max(-low, high) <= EXACT
                return Span(low, high) if exact else None
            case Load(fill=fill, checked=checked, dtype=dtype, kind=kind):
                if dtype not in LIMITS or (kind != WIDE and LIMITS[dtype][1] > EXACT):
                    return None
                held = Span(*LIMITS[dtype])
                other = _of_constant(fill) if checked or value.empty else held
                return None if other is None or other.far is not None else held.united(other)
            case Choice(_, args):
                return self._united(args)
            case Operation("choose", args):
                return self._united(args[1:])
            case Total(k):
                return self._total(k)
            case Operation(word, args, kind) if word == kind:
                return self._converted(args[0], kind)
            case Operation(word, args, kind) if kind == WIDE:
                spans = [span for span in map(self.spans.__getitem__, args) if span is not None]
                if len(spans) == len(args) and all(span.far is None for span in spans):
                    return _of_operation(word, spans)
        return None

    def _united(self, args: Sequence[int]) -> Span | None:
        one, other = (self.spans[arg] for arg in args)
        return None if one is None or other is None else one.united(other)

    def _converted(self, arg: int, kind: str) -> Span | None:
        if self.values[arg].kind == TRUTH:
            return Span(0, 1)
        span = self.spans[arg]
        if span is None or span.far is not None or self.values[arg].kind != WIDE:
            return None
        return span if kind == WIDE or max(-span.low, span.high) <= EXACT else None

    def _total(self, k: int) -> Span | None:
        made = self.draft.reductions[k]
        span = self.spans[made.value]
        steps = prod(self.draft.domain[i].extent for i in made.own)
        found = None if span is None else _of_total(made, span, steps)
        return found if found is not None and found.fits else None

    def narrow(self, place: int) -> int:
        """The place of the value, which has a span, in int32."""
        found = self._narrow.get(place)
        if found is None:
            found = self._narrow[place] = self.made.place(self._as_narrow(place))
        return found

    def _as_narrow(self, place: int) -> Value:
        value, span = self.values[place], self.spans[place]
        assert span is not None
        match value:
            case Constant(number):
                return Constant(number if span.far is None else Fraction(span.mark), NARROW)
            case Load():
                return replace(with_operands(value, self.keep), kind=NARROW)
            case Position() | Total():
                return replace(value, kind=NARROW)
            case Choice():
                return replace(with_operands(value, self.narrow), kind=NARROW)
            case Operation("choose", (held, one, other)):
                args = self.keep(held), self.narrow(one), self.narrow(other)
                return Operation("choose", args, NARROW)
            case Operation(word, (arg,), kind) if word == kind:
                if self.values[arg].kind == TRUTH:
                    return Operation(NARROW, (self.keep(arg),), NARROW)
                return self.made.listed[self.narrow(arg)]
            case Operation(word, args):
                return Operation(word, tuple(map(self.narrow, args)), NARROW)
        raise TypeError(f"{type(value).__name__} has no span")

    def keep(self, place: int) -> int:
        """The place of the value in its own type."""
        found = self._kept.get(place)
        if found is None:
            found = self._kept[place] = self.made.place(self._as_kept(place))
        return found

    def _as_kept(self, place: int) -> Value:
        value, span = self.values[place], self.spans[place]
        match value:
            case Total(_, kind) if span is not None:
                found = self.narrow(place)
                wide = Operation(kind, (found,), kind)
                if span.far is None:
                    return wide
                mark = self.made.place(Constant(Fraction(span.mark), NARROW))
                held = self.made.place(Operation("equal", (found, mark), TRUTH))
                far = self.made.place(Constant(span.far, kind))
                return Operation("choose", (held, far, self.made.place(wide)), kind)
            case Choice() | Operation() if value.kind == WIDE:
                if span is not None and span.far is None:
                    return Operation(WIDE, (self.narrow(place),), WIDE)
            case Operation(word, args) if word != "choose":
                spans = [self.spans[arg] for arg in args if self.values[arg].kind == WIDE]
                if len(spans) == len(args) and all(span and span.far is None for span in spans):
                    return with_operands(value, self.narrow)
        return with_operands(value, self.keep)


def _of_constant(number: Number) -> Span | None:
    if isinstance(number, Fraction):
        if number.denominator != 1:
            return None
        if LEAST <= number <= GREATEST:
            return Span(int(number), int(number))
    return Span(*NOWHERE, number)


def _of_operation(word: str, spans: Sequence[Span]) -> Span | None:
    lows, highs = [span.low for span in spans], [span.high for span in spans]
    low, high = lows[0], highs[0]
    match word:
        case "+":
            return Span(sum(lows), sum(highs))
        case "*":
            for span in spans[1:]:
                ends = [x * y for x in (low, high) for y in span[:2]]
                low, high = min(ends), max(ends)
            return Span(low, high)
        case "maximum":
            return Span(max(lows), max(highs))
        case "minimum":
            return Span(min(lows), min(highs))
        case "abs":
            return Span(0, max(-low, high))
        case "relu":
            return Span(0, max(0, high))
        case "sign":
            return Span(-1, 1)
    return spans[0] if word in SAME else None


def _of_total(made: Reduction, span: Span, steps: int) -> Span | None:
    low, high, far = span
    match made.reducer:
        case "sum":
            return Span(min(0, steps * low), max(0, steps * high)) if far is None else None
        case "max":
            return span if far is None or far < 0 else None
        case "min":
            return span if far is None or far > 0 else None
    return Span(-1, 1) if far is None and low >= -1 and high <= 1 else None
