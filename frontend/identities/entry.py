"""Two formulas of numbers that a source says are equal, and near misses of such pairs.

    equal(left, right, source, assume)           left = right
    unequal(left, wrong, source, assume)         left = wrong is a near miss of some identity
    known(left, right, wrong, source, assume)    both

All is said for the real numbers that satisfy `assume`, where both sides are defined.  A name in
lower case is a number; a name in upper case is a vector of 6 numbers; k and j run over their
positions.
"""

from __future__ import annotations

from typing import NamedTuple

SIZE = 6
ITERATORS = ("j", "k")


class Pair(NamedTuple):
    left: str
    right: str
    source: str
    assume: str = ""
    """Comparisons with a comma between them; of a vector, for each of its entries."""

    def __str__(self) -> str:
        return f"{self.left} = {self.right}" + (f"  for {self.assume}" if self.assume else "")


class Entry(NamedTuple):
    """An identity, a near miss, or one of each with the same left side."""

    equal: tuple[Pair, ...] = ()
    unequal: tuple[Pair, ...] = ()


def equal(left: str, right: str, source: str, assume: str = "") -> Entry:
    return Entry(equal=(Pair(left, right, source, assume),))


def unequal(left: str, wrong: str, source: str, assume: str = "") -> Entry:
    return Entry(unequal=(Pair(left, wrong, source, assume),))


def known(left: str, right: str, wrong: str, source: str, assume: str = "") -> Entry:
    return Entry((Pair(left, right, source, assume),), (Pair(left, wrong, source, assume),))


def joined(entries: tuple[Entry, ...]) -> Entry:
    """All identities and all near misses."""
    return Entry(sum((e.equal for e in entries), ()), sum((e.unequal for e in entries), ()))
