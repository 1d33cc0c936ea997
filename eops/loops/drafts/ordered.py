"""The values of a group in an order that no size has a part in.

    Y[i] = X[i+1] + X[i] + X[i-1]      the order of such reads follows from a hash of X's shape

Kernels for several sizes have one text only where they compute in one order: operands of sums and
products are sorted by what they are, large numbers in them left out.  Only the rounding of sums of
more than two terms depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import blake2b
from typing import Any, Final

from einderive.eops.loops.drafts.bodies import Reduction
from einderive.eops.loops.drafts.draft import Draft
from einderive.eops.loops.drafts.values import (
    Choice,
    Constant,
    Load,
    Operation,
    Total,
    Value,
    Values,
    operands_of,
    rows_of,
    with_operands,
)
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Number

SMALL: Final = 16
"""A number beyond this may be a size."""
LONG: Final = 100
"""Longer keys stand in others as hashes.  Values are shared: written out, their text could double
with each operation."""


def ordered(draft: Draft) -> Draft:
    """The same values, totals and outputs; equal for sizes that are planned alike."""
    work = _Ordering(draft)
    rank = sorted(range(len(draft.reductions)), key=lambda k: (work.level(k), work.total_key(k)))
    work.reductions = {old: new for new, old in enumerate(rank)}
    totals = [draft.reductions[old] for old in rank]
    totals = [replace(one, value=work.placed(one.value)) for one in totals]
    outputs = tuple(replace(out, value=work.placed(out.value)) for out in draft.outputs)
    values = tuple(work.made.listed)
    return replace(draft, values=values, reductions=tuple(totals), outputs=outputs)


@dataclass
class _Ordering:
    draft: Draft
    made: Values = field(default_factory=Values)
    reductions: dict[int, int] = field(default_factory=dict)
    _keys: dict[int, tuple[str, str]] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)

    def level(self, reduction: int) -> int:
        """How many totals are done before."""
        return self._below(self.draft.reductions[reduction].value)

    def _below(self, place: int) -> int:
        value = self.draft.values[place]
        if isinstance(value, Total):
            return 1 + self.level(value.reduction)
        return max((self._below(arg) for arg in operands_of(value)), default=0)

    def total_key(self, reduction: int) -> tuple[str, str]:
        one: Reduction = self.draft.reductions[reduction]
        rough, exact = self.key(one.value)
        own = f"{one.reducer} {one.kind} {one.own}"
        return f"{own} {rough}", f"{own} {exact}"

    def key(self, place: int) -> tuple[str, str]:
        """What a value is, without large numbers, and with them."""
        found = self._keys.get(place)
        if found is None:
            found = self._keys[place] = self._key(self.draft.values[place])
        return found

    def _key(self, value: Value) -> tuple[str, str]:
        rows = rows_of(value)
        said: list[Any] = [type(value).__name__, value.kind]
        below = [self.key(arg) for arg in operands_of(value)]
        match value:
            case Constant():
                rough = str(value.value) if is_small(value.value) else ""
                return f"constant {rough}", f"constant {value.value}"
            case Load(operand):
                said += [self.draft.group.operands[operand].label, value.dtype, value.fill]
                said.append(len(value.picked))
            case Operation(word):
                said += [word, len(below)]
                below = sorted(below) if _is_symmetric(word) else below
            case Choice(conditions):
                said += [condition.relation for condition in conditions]
            case Total(reduction):
                below = [self.total_key(reduction)]
            case _:
                pass
        parts = [*said, *(_without_large(row) for row in rows), *(one for one, _ in below)]
        return _short(parts), _short([*said, *rows, *(one for _, one in below)])

    def placed(self, place: int) -> int:
        """Where the value stands now, after its operands."""
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = self.made.place(self._moved(self.draft.values[place]))
        return found

    def _moved(self, value: Value) -> Value:
        match value:
            case Total(reduction):
                return replace(value, reduction=self.reductions[reduction])
            case Operation(word, args) if _is_symmetric(word):
                value = replace(value, args=tuple(sorted(args, key=self.key)))
        return with_operands(value, self.placed)


def _short(parts: Sequence[Any]) -> str:
    text = str(parts)
    return text if len(text) <= LONG else blake2b(text.encode(), digest_size=16).hexdigest()


def _is_symmetric(word: str) -> bool:
    return word in "+*" or (word in FUNCTIONS and FUNCTIONS[word].symmetric)


def is_small(number: Number | int, most: int = SMALL) -> bool:
    """Whether numerator and denominator are small, so that no size is part of the number."""
    return abs(float(number)) <= most and Fraction(number).denominator <= most


def _without_large(row: Row) -> str:
    def small(number: int) -> str:
        return str(number) if abs(number) <= SMALL else "-" if number < 0 else "+"

    terms = [f"{small(a)}i{i}" for i, a in row.terms]
    terms += [f"{small(b)}({_without_large(inner)})//{small(n)}" for inner, n, b in row.floors]
    return f"{small(row.const)} {' '.join(terms)}"
