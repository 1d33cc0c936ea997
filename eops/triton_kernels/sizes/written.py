"""Which numbers of an open kernel stay in its text: those that were the same at all sizes so far.

    first size     c0 * i0 + 3 * s0      c0 = 400         3 is small, and so no size as far as known
    another one    c0 * i0 + 3 * s0      c0 = 500         the same text: nothing is compiled
    another one    c0 * i0 + c1 * s0     c0, c1 = 500, 5  3 was a size: compiled once for all others

A number in the text makes better code: the compiler knows its divisors.
"""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache
from typing import Final, NamedTuple

KEPT: Final = 1024
"""Texts whose numbers are remembered."""


class _Seen(NamedTuple):
    """The numbers for one size, and the places of those that are in the text."""

    values: tuple[int, ...]
    written: frozenset[int]


def written(whole: str, values: tuple[int, ...], likely: Set[int]) -> frozenset[int]:
    """The places of the numbers that stay in the text, for a kernel that is `whole` with all its
    numbers as arguments; those at the places `likely` are arguments in any case."""
    seen = _seen(whole)
    for one in seen:
        if all(values[place] == one.values[place] for place in one.written):
            return one.written
    same = frozenset(
        place
        for place, value in enumerate(values)
        if place not in likely and all(one.values[place] == value for one in seen)
    )
    seen.append(_Seen(values, same))
    return same


@lru_cache(maxsize=KEPT)
def _seen(whole: str) -> list[_Seen]:
    """What was decided for the text, the first size first."""
    return []
