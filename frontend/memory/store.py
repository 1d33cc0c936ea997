"""Stores of texts by kind and key, which outlive the process; here, one that keeps nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Kept(NamedTuple):
    """One text that is kept.  `about` says in words what it is of; `made` and `used` are seconds
    since 1970."""

    kind: str
    key: str
    about: str
    text: str
    made: float
    used: float


class State(NamedTuple):
    """What a store says of itself.

    - `place` is the file.
    - `problem` says why nothing can be kept, or why nothing can be read; it is empty otherwise.
    - `size` is the size of its files in bytes, and `most` the largest size that its texts may have
      together."""

    place: str
    problem: str = ""
    journal: str = ""
    size: int = 0
    most: int = 0


class Store:
    """Keeps texts; this one keeps none, because of a problem.  No method raises an error for what
    the disk or another process does: what cannot be read is not there, and what cannot be kept is
    not kept."""

    def __init__(self, problem: str) -> None:
        self.problem = problem

    def get(self, kind: str, key: str) -> Kept | None:
        """The text, which is the one that was given to `put`; None if there is none."""
        return None

    def put(self, kind: str, key: str, text: str, about: str = "") -> bool:
        """Keeps the text in place of the one with this kind and key; says whether that is done."""
        return False

    def every(self) -> Iterator[Kept]:
        """All that is kept, the latest used first."""
        return iter(())

    def clear(self) -> int:
        """Forgets everything; the number of texts that there were."""
        return 0

    def state(self) -> State:
        """Where texts are kept, and whether they can be."""
        return State("", self.problem)
