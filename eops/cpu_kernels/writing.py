"""What the parts of a kernel's text share: its lines, its names, its memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple

from einderive.eops.loops.plan import Plan
from einderive.eops.loops.values import Constant
from einderive.ta.exact.fields import rounded
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.node import Number

MOST_THREADS: Final = 128
"""That work together on one result."""


class Room(NamedTuple):
    """Memory of the kernel's own: so many numbers, `real` or `total`."""

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
    text: Text = field(default_factory=Text)
    known: set[object] = field(default_factory=set)

    def kind(self, reduction: int) -> str:
        return "real" if REDUCERS[self.plan.reductions[reduction].reducer].order else "total"

    def name(self, place: int) -> str:
        value = self.plan.values[place]
        return number(value.value) if isinstance(value, Constant) else f"v{place}"


def number(value: Number | int, kind: str = "real") -> str:
    found = rounded(value)
    text = "inf" if found == inf else "-inf" if found == -inf else repr(found)
    return f"{kind}({text})"
