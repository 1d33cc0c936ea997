"""The formulas of the demo and the benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from einderive.ta.listing import beside


@dataclass(frozen=True, slots=True)
class Case:
    """A formula with shapes; `ranges` where no tensor gives them."""

    name: str
    text: str
    shapes: dict[str, tuple[int, ...]]
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Self:
        """The case of an entry of a file."""
        return cls(entry["name"], one_line(entry["text"]), entry["shapes"])


def one_line(text: str) -> str:
    """A text that a file may fold."""
    return " ".join(text.split())


DEMO = tuple(map(Case.read, beside(__name__)["demo"]))


def counted(words: Sequence[str]) -> str:
    """`matmul + eOperator x2`."""
    found = Counter(word.split("(")[0].strip() for word in words)
    return " + ".join(name if n == 1 else f"{name} x{n}" for name, n in found.items())
