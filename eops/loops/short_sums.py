"""Short sums are written out: all terms at one point of the loops, and no total in memory.

Y[i] = sum[r](K[r]*X[i+r]) where r in 0:3      for i:  Y[i] = (K[0]*X[i] + K[1]*X[i+1]) + ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Final

from einderive.eops.loops.bodies import WORDS
from einderive.eops.loops.group import Group
from einderive.eops.loops.ordered import SMALL
from einderive.eops.loops.picks import picked, summed
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import accesses

MOST_TERMS: Final = 32
"""Terms of a sum that are written one after the other."""


def is_short(stage: Scope) -> bool:
    """Whether the terms of the stage's sum may be written one after the other."""
    terms = prod(stage.domain[i].extent for i in summed(stage))
    return picked(stage) is None and terms <= MOST_TERMS and stage.reducer in WORDS


def written(group: Group, *, open_sizes: bool) -> Iterator[Group]:
    """The group with all its sums written out, if they are short, and none is read at several
    places or by another sum, be it through other stages: terms of terms are too many to compile.
    With `open_sizes`, no extent of a sum may be a size."""
    sums = {stage for stage in group.stages if summed(stage)}
    if not sums or not all(map(is_short, sums)):
        return
    if open_sizes and any(s.domain[i].extent > SMALL for s in sums for i in summed(s)):
        return
    rows = {stage: set[object]() for stage in sums}
    reached = set(sums)  # the stages that read a sum, be it through others
    for reader in group.stages:
        for access in accesses(reader.body):
            if access.source not in reached:
                continue
            if reader in sums:
                return
            reached.add(reader)
            if access.source in sums:
                rows[access.source].add((reader, access.rows))
    if all(len(found) <= 1 for found in rows.values()):
        yield replace(group, written=tuple(stage for stage in group.stages if stage in sums))
