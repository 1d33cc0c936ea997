"""Two formulas of numbers that a source says are equal, and near misses of such pairs.

They stand in the files `*.toml` of this folder, one for each family:

    [[pairs]]
    left = "sqrt(x)*sqrt(x)"
    right = "x"                              left = right
    wrong = "x^2"                            left = wrong is a near miss of some identity
    source = "CRC, radicals"
    assume = "x >= 0"

`right` or `wrong` may be missing, and `assume`.  All is said for the real numbers that satisfy
`assume`, where both sides are defined.  A name in lower case is a number; a name in upper case is a
vector of 6 numbers; k and j run over their positions.
"""

from __future__ import annotations

from typing import NamedTuple

from einderive.ta.listing import table

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


class Family(NamedTuple):
    """The identities and the near misses of one file."""

    name: str
    equal: tuple[Pair, ...]
    unequal: tuple[Pair, ...]


def listed(file: str) -> Family:
    """The pairs of one of the files."""
    found = table(__package__, f"{file}.toml")

    def pairs(side: str) -> tuple[Pair, ...]:
        return tuple(
            Pair(each["left"], each[side], each["source"], each.get("assume", ""))
            for each in found["pairs"]
            if side in each
        )

    return Family(found["family"], pairs("right"), pairs("wrong"))
