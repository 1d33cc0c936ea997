"""The numbers in a kernel's text: written there, or given to it as arguments.

    fixed     live = index < 3000;  v0 = tl.load(a0 + (30 * i0 + i1))
    open      live = index < c0;    v0 = tl.load(a0 + (c1 * i0 + i1))       c0, c1 = 3000, 30

A kernel of a formula that names its sizes is open: one text, which Triton compiles once, serves all
sizes that have the same plan.  Triton compiles it once more for arguments that are multiples of 16:
only then may a thread load 16 bytes at once.  It is told to look at the numbers of addresses alone.

Equal numbers of one operand or iterator are one argument.  Numbers of two operands are two
arguments, since they may differ for other sizes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from einderive.eops.dtypes import LIMITS
from einderive.eops.loops.drafts.ordered import SMALL, is_small
from einderive.eops.triton_kernels.sizes.written import written
from einderive.ta.ir.node import Number

PART: Final = 4
"""A number that depends on a size is seldom less than this part of it."""


class Hole(NamedTuple):
    """A number that may be an argument: an integer, or the bits of a real number.  It is `likely`
    to be another one for other sizes."""

    given: int
    likely: bool


@dataclass
class Numbers:
    """`names` are the arguments, `given` their values; of these, `loose` need not be known to be
    multiples of 16.  `lines` make real numbers of bits.  `holes` are all numbers that may be
    arguments, and those in `written` are none.  Numbers up to `small` are hardly sizes."""

    open: bool = False
    small: int = SMALL
    written: Set[int] = frozenset()
    holes: list[Hole] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    _known: dict[tuple[object, ...], str] = field(default_factory=dict)

    def whole(self, value: int, of: str = "", *, aligned: bool = False) -> str:
        """An extent, a stride or a place.  It is a number of the operand or the iterator `of`, and
        one by itself without that; `aligned`: it decides where in memory something lies."""
        if not self.open or abs(value) <= 1:
            return str(value)
        key = (of, aligned, abs(value))
        name = self._known.get(key) if of else None
        if name is None:
            likely = abs(value) > self.small
            name = self._known[key] = self._hole(abs(value), str(abs(value)), likely, aligned)
        return f"-{name}" if value < 0 else name

    def count(self, value: int, *, aligned: bool = True) -> str:
        """An amount of work.  It is likely to be another one even where it is small."""
        return self._hole(value, str(value), True, aligned) if self.open else str(value)

    def real(self, value: Number, dtype: str, text: str) -> str:
        """The name of a number of the formula, of this real type; "" where it is in the text.  As
        `text` it is a literal of the type."""
        if not self.open or text.startswith("float(") or is_small(value, 1):  # infinite, NaN
            return ""
        key = ("real", dtype, value)
        if key not in self._known:
            double = dtype == "float64"
            form, bits = ("<d", "<q") if double else ("<f", "<i")
            (given,) = struct.unpack(bits, struct.pack(form, float(text)))
            if double and abs(given) <= LIMITS["int32"][1]:  # Triton would take it for 32 bits
                return ""
            name = self._hole(given, "", not is_small(value, self.small), False)
            if name:
                wide = f"{name}.to(tl.{'float64' if double else 'float32'}, bitcast=True)"
                exact = dtype in ("float32", "float64")
                self.lines.append(f"f{name} = {wide if exact else f'{wide}.to(tl.{dtype})'}")
            self._known[key] = name and f"f{name}"
        return self._known[key]

    def integer(self, value: int) -> str:
        """A number of the formula among integers.  The ends of the type stay in the text."""
        if not self.open or abs(value) <= 1 or abs(value) >= LIMITS["int32"][1]:
            return str(value)
        return self.whole(value, "value")

    def _hole(self, value: int, text: str, likely: bool, aligned: bool) -> str:
        """The argument of the next hole, or the number's text where it is written."""
        place = len(self.holes)
        self.holes.append(Hole(value, likely))
        if place in self.written:
            return text
        name = f"c{len(self.names)}"
        self.names.append(name)
        self.given.append(value)
        if not aligned:
            self.loose.append(name)
        return name


CLOSED: Final = Numbers()
"""All numbers are in the text."""


def least_size(sizes: Iterable[int]) -> int:
    """What is at most this is hardly a size, or a number that depends on one, where these are the
    sizes that have names."""
    return max(SMALL, min(sizes, default=0) // PART)


def opened(write: Callable[[Numbers], str], small: int) -> tuple[str, tuple[int, ...]]:
    """The text of an open kernel, and its arguments.  The text with all holes open says which other
    sizes have the same one; `small`: see `Numbers`."""
    every = Numbers(open=True, small=small)
    whole = write(every)
    values = tuple([hole.given for hole in every.holes])
    likely = frozenset(place for place, hole in enumerate(every.holes) if hole.likely)
    numbers = Numbers(open=True, written=written(whole, values, likely))
    return write(numbers), tuple(numbers.given)
