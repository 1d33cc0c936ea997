"""The numbers in a kernel's text: written there, or given to it as arguments.

    fixed     for i0 in range(0, 2000):  v0 = load(p0, 3000 * i0)
    open      for i0 in range(0, c0):    v0 = load(p0, c1 * i0)          c0, c1 = 2000, 3000

A kernel of a formula that names its sizes is open: one text, compiled once, serves all sizes that
have the same plan.  Small numbers stay in the text, where they say how loops vectorise.  Equal
numbers of one operand or iterator are one argument, so that the compiler sees which reads are
neighbours.  Numbers of two operands are two arguments, since they may differ for other sizes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import inf
from typing import Final

from einderive.eops.dtypes import LIMITS
from einderive.eops.loops.drafts.ordered import SMALL, is_small
from einderive.ta.exact.fields import rounded
from einderive.ta.ir.node import Number

WHOLE: Final = "max(whole({{}}), {})"
"""The maximum changes nothing.  It tells the compiler that a loop over this many steps has one."""
REAL: Final = "real({})"
FIRST_MARK: Final = LIMITS["int32"][1]
"""Integers from here on are marks of a type's end, and no sizes."""


@dataclass
class Numbers:
    """`given` are the arguments: integers, and bits of numbers in float64.  `lines` read them.
    Numbers up to `small` are always in the text."""

    open: bool = False
    small: int = SMALL
    given: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    _names: dict[tuple[str, str, int], str] = field(default_factory=dict)

    def _argument(self, word: str, of: str, value: int) -> str:
        name = self._names.get((word, of, value))
        if name is None:
            name = self._names[word, of, value] = self._new(word, value)
        return name

    def _new(self, word: str, value: int) -> str:
        name, place = f"c{len(self.given)}", f"data, {{first}} + {len(self.given)}"
        self.lines.append(f"{name} = {word.format(place)}")
        self.given.append(value)
        return name

    def whole(self, value: int, of: str) -> str:
        """An extent, a stride or a place: a number of the operand or the iterator `of`."""
        if self._stays(value):
            return str(value)
        name = self._argument(self._large, of, abs(value))
        return f"-{name}" if value < 0 else name

    def count(self, value: int) -> str:
        """An amount of work.  It is an argument even where it is small."""
        return self._new(WHOLE.format(1), value) if self.open else str(value)

    def end(self, value: int) -> str:
        """Where a loop ends.  It is an argument of its own: LLVM would otherwise join loops of
        equal length in part, and then vectorise neither."""
        return str(value) if self._stays(value) else self._new(self._large, value)

    @property
    def _large(self) -> str:
        return WHOLE.format(self.small + 1)

    def _stays(self, value: int) -> bool:
        return not self.open or abs(value) <= self.small

    def value(self, value: Number | int, kind: str, of: str = "") -> str:
        """A number of the formula, that of the value `of`, in this type.  Among integers, an
        infinity is the number beyond which there is none."""
        if kind in LIMITS:
            least, greatest = LIMITS[kind]
            held = int(min(max(value, least), greatest))
            size = abs(held) < FIRST_MARK
            return f"{kind}({self.whole(held, of) if size else held})"
        found = rounded(value)
        if self.open and abs(found) < inf and not is_small(value, self.small):
            (bits,) = struct.unpack("<q", struct.pack("<d", found))
            return f"{kind}({self._argument(REAL, of, bits)})"
        text = "inf" if found == inf else "-inf" if found == -inf else repr(found)
        return f"{kind}({text})"

    def room(self, size: int, most: int) -> int:
        """Elements of the kernel's own memory: as many as any size is to need, where it is open."""
        return max(size, most) if self.open else size
