"""Two formulas of numbers that a source says are equal, or a near miss of such a pair.

    left = right    for all real numbers that satisfy `assume`, where both sides are defined

A name in lower case is a number; a name in upper case is a vector of 6 numbers; k and j run over
their positions.
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
