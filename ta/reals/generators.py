"""Generators of the field of values, and what is known of each.

    read   an entry, or anything that nothing else is known of
    exp    exp(m/n) for the payload m and the unit n            positive
    root   the n-th root r >= 0 of the payload p                r^n = p
    cos    cos(m/n);   sin   sin(m/n)                           sin^2 = 1 - cos^2
    imaginary                                           i^2 = -1
    log, asin, or a function's name: of the payload

Payloads are quotients in older generators, so that relations end.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from einderive.ta.reals.polynomials import (
    MOST_GENERATORS,
    Polynomial,
    TooLarge,
    constant,
    generator,
    used,
)


class Quotient(NamedTuple):
    """top/bottom, without common factors, the bottom's leading coefficient 1."""

    top: Polynomial
    bottom: Polynomial


class Generator(NamedTuple):
    kind: str
    payload: tuple[Quotient, ...] = ()
    unit: int = 1
    key: Hashable = None
    free: frozenset[int] = frozenset()
    """The iterators of sums that it depends on."""


class Registry:
    """All generators of one proof.  Their meaning is the same in all its cases."""

    def __init__(self) -> None:
        self.all: list[Generator] = []
        self._complex: list[bool] = []
        self.zero_roots = False
        """Whether the root of an entry was met that may be 0."""

    def __getitem__(self, number: int) -> Generator:
        return self.all[number]

    def new(self, made: Generator) -> int:
        if len(self.all) >= MOST_GENERATORS:
            raise TooLarge(f"more than {MOST_GENERATORS} different functions and entries")
        self.all.append(made)
        self._complex.append(self._may_be_complex(made))
        return len(self.all) - 1

    def complex(self, number: int) -> bool:
        """Whether the generator may be no real number."""
        return self._complex[number]

    def _may_be_complex(self, made: Generator) -> bool:
        # Payloads share older generators: a walk through all of them would take exponential time.
        if made.kind == "read" and isinstance(made.key, tuple):
            return bool(made.key[0].source.dtype.startswith("complex"))
        sides = (side for value in made.payload for side in value)
        return made.kind == "imaginary" or any(self._complex[n] for s in sides for n in used(s))

    def relation(self, number: int) -> tuple[int, Polynomial] | None:
        """n and p with g^n = p, for p in older generators."""
        made = self.all[number]
        if made.kind == "root":
            return made.unit, made.payload[0].top
        if made.kind == "imaginary":
            return 2, constant(-1)
        if made.kind == "sin":
            return 2, 1 - generator(number - 1) ** 2
        return None
