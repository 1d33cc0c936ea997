"""The box of a scope: the ranges of its iterators, and what follows from them alone.

Many scopes have one box, so it is worked out once and shared.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple, TypeAlias

from einderive.ta.ir.affine import Range


class Box(NamedTuple):
    """`domain` holds the ranges of all iterators, loops first, `extents` their lengths; `shape` and
    `size` are those of the tensor on the loops, `empty` says whether some range is empty."""

    loops: tuple[Range, ...]
    sums: tuple[Range, ...]
    domain: tuple[Range, ...]
    extents: tuple[int, ...]
    shape: tuple[int, ...]
    size: int
    empty: bool


Bounds: TypeAlias = tuple[Range | tuple[int, int], ...]


@lru_cache(maxsize=16384)
def box(loops: Bounds, sums: Bounds) -> Box:
    """Equal ranges become one object; ValueError where one ends before it begins."""
    domain = tuple([b if isinstance(b, Range) else Range(*b) for b in loops + sums])
    extents = tuple([hi - lo for lo, hi in domain])
    if extents and min(extents) < 0:
        raise ValueError("a range ends before it begins")
    first = len(loops)
    shape = extents[:first]
    return Box(domain[:first], domain[first:], domain, extents, shape, prod(shape), 0 in extents)
