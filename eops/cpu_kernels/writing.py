"""The parts of a kernel's text that all passes share: its lines, its names, its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.dtypes import HALVES, LIMITS
from einderive.eops.loops.drafts.bodies import Reduction
from einderive.eops.loops.drafts.kinds import TRUTH
from einderive.eops.loops.drafts.narrow import NARROW
from einderive.eops.loops.drafts.values import Constant
from einderive.eops.loops.plan import Plan, row_as_text
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Condition

STORED: Final = {TRUTH: "uint8", "float16": "float32", "bfloat16": "float32"}
"""The type that a store takes, if it is not the type that is written."""

MOST_THREADS: Final = 128
"""The most threads that work together on one result."""

COMBINED: Final = {
    "sum": "{0} + {1}",
    "prod": "{0} * {1}",
    "max": "maximum_{2}({0}, {1})",
    "min": "minimum_{2}({0}, {1})",
}
"""Of two values of a type, in the order of the loops."""
IN_ANY_ORDER: Final = {"sum": "sum_in_any_order", "prod": "product_in_any_order"}


class Room(NamedTuple):
    """Memory of the kernel's own: this many numbers of a type."""

    name: str
    kind: str
    size: int

    @property
    def function(self) -> str:
        """The function of the source that gives it."""
        return f"room_of_{self.size}_{self.kind}"


@dataclass(slots=True)
class Text:
    """Lines and the depth at which the next one stands."""

    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def add(self, *lines: str) -> None:
        self.lines += ["    " * self.depth + line for line in lines]

    def open(self, line: str) -> None:
        self.add(line)
        self.depth += 1

    def close(self, times: int = 1) -> None:
        self.depth -= times


@dataclass
class Writer:
    """The text of a kernel while it is written; `known` is what was computed at the start of this
    piece of work, by value or by index."""

    plan: Plan
    numbers: Numbers
    text: Text = field(default_factory=Text)
    known: set[object] = field(default_factory=set)
    names: Mapping[int, str] = field(default_factory=dict)
    """Of values that are computed in a loop with names of its own."""
    quotients: Mapping[tuple[Row, int], int] = field(default_factory=dict)
    """Those that are iterators of a loop, with the numbers of these."""
    moved: Mapping[int, Row] = field(default_factory=dict)
    """Iterators that stand for a row of their loop's."""
    turned: Sequence[int] = ()
    """Reads whose tiles are turned."""

    def name(self, place: int) -> str:
        value = self.plan.values[place]
        if isinstance(value, Constant):
            return self.numbers.value(value.value, value.kind, f"v{place}")
        return self.names.get(place, f"v{place}")

    def row(self, row: Row, of: str = "") -> str:
        """The row as integer arithmetic, its numbers those of the operand `of`, else those of its
        iterators."""
        found = self._here(row)
        return row_as_text(found, lambda number: self.numbers.whole(number, of or of_row(row)))

    def without(self, row: Row) -> Row:
        """The row with iterators for the quotients that are some."""
        for inner, n, b in row.floors:
            place = self.quotients.get((inner, n))
            if place is not None:
                row = affine.add(row, Row(0, (), ((inner, n, b),)), -1)
                row = affine.add(row, affine.iterator(place), b)
        return row

    def _here(self, row: Row) -> Row:
        row = self.without(row)
        places = {i: affine.iterator(i) for i in affine.iterators(row)}
        return affine.substitute(row, places | {**self.moved})

    def place(self, number: int, rows: Sequence[Row]) -> str:
        """Where the element at these indices lies in its window."""
        window, parts = self.plan.windows[number], list[str]()
        rows = [*map(self._here, rows)]
        extents = list(window.extents(self.plan.block))
        for row, side in zip(rows, window.sides, strict=True):
            if side is not None:
                index = row_as_text(affine.shift(row, -side.lo))
                index += " - low" if side.inner else ""
                extents.pop(0)
                parts.append(f"({index})" + "".join(f" * {extent}" for extent in extents))
        if window.moving is not None and window.depth > 1:
            step, plane = rows[window.moving], window.size(self.plan.block) // window.depth
            parts.insert(0, f"({row_as_text(step)}) % {window.depth} * {plane}")
        return f"w{number}, {' + '.join(parts) or '0'}"

    def bound(self, iterator: int, value: int) -> str:
        """A bound of an iterator's loop."""
        return self.numbers.whole(value, f"i{iterator}")

    def within(self, value: str, kind: str, lo: int, hi: int) -> str:
        """Whether the value is an integer from lo to hi; a number with a fraction equals none."""
        low, high = (self.numbers.value(end, kind, value) for end in (lo, hi))
        text = f"({value} >= {low}) & ({value} < {high})"
        return text if kind == "int64" else f"{text} & ({value} == floor_{kind}({value}))"

    def small(self, row: Row) -> str:
        """The row's number; one of 32 bits is what every processor converts in vectors."""
        (least, greatest), found = LIMITS["int32"], affine.bounds(row, self.plan.domain)
        narrow = least <= found[0] and found[1] <= greatest
        return f"int32({self.row(row)})" if narrow else self.row(row)

    def condition(self, held: Condition) -> str:
        """The condition as a comparison of integers."""
        return f"{self.row(held.row)} {held.relation} 0"


def of_row(row: Row) -> str:
    """What the numbers of an index belong to: its iterators."""
    return f"iterators {affine.iterators(row)}"


def of_team(kind: str) -> str:
    """The type of 64 bits in which threads exchange totals of a type."""
    return "int64" if kind in LIMITS else "float64"


def half(dtype: str) -> str:
    """The suffix of `load` and `store` for elements that are kept as their bits."""
    return f"_{dtype}" if dtype in HALVES else ""


def of_two(made: Reduction, total: str, other: str) -> str:
    """The total of two parts."""
    found = COMBINED[made.reducer].format(total, other, made.kind)
    return f"{made.kind}({found})" if made.kind == NARROW else found  # numba's is int64


def identity(made: Reduction) -> str:
    """What a total begins with."""
    return Numbers().value(REDUCERS[made.reducer].identity, made.kind)
