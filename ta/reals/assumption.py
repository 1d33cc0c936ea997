"""What a caller promises of entries: `A > 0`, `0 <= B`, `a != b`.

c_1*x_1 + ... + c_n*x_n + c  REL  0        for all entries of a tensor, or for scalars
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from einderive.ta.ir.node import Access
from einderive.ta.reals.knowledge import (
    NEGATIVE,
    NOT_NEGATIVE,
    NOT_POSITIVE,
    NOT_ZERO,
    POSITIVE,
    ZERO,
    Fact,
    Signs,
)
from einderive.ta.reals.polynomials import Polynomial, constant, generator

RELATIONS: Mapping[str, Signs] = {
    ">": POSITIVE,
    ">=": NOT_NEGATIVE,
    "<": NEGATIVE,
    "<=": NOT_POSITIVE,
    "!=": NOT_ZERO,
    "==": ZERO,
}


class Assumption(NamedTuple):
    """`left REL right`, each the name of a tensor or a number."""

    left: str | Fraction
    relation: str
    right: str | Fraction

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(side for side in (self.left, self.right) if isinstance(side, str))

    def facts(self, reads: Sequence[tuple[int, Access]]) -> list[Fact]:
        """Of these generators, which are reads inside of their tensors."""
        signs = RELATIONS[self.relation]
        found: list[Fact] = []
        named = {name: [(n, r) for n, r in reads if r.source.label == name] for name in self.names}
        if len(self.names) == 1:
            for number, _ in named[self.names[0]]:
                found.append((self._difference({self.names[0]: number}), signs))
        elif len(self.names) == 2:
            for one, first in named[self.names[0]]:
                for two, second in named[self.names[1]]:
                    if first.rows == second.rows:
                        at = {self.names[0]: one, self.names[1]: two}
                        found.append((self._difference(at), signs))
        return found

    def _difference(self, at: Mapping[str, int]) -> Polynomial:
        sides = [
            generator(at[side]) if isinstance(side, str) else constant(side)
            for side in (self.left, self.right)
        ]
        return sides[0] - sides[1]
