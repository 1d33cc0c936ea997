"""Short sums are written out: all terms at one point of the loops, and no total in memory.

Y[i] = sum[r](K[r]*X[i+r]) where r in 0:3      for i:  Y[i] = (K[0]*X[i] + K[1]*X[i+1]) + ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Final

from einderive.eops.loops.drafts.bodies import WORDS
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.ordered import SMALL
from einderive.eops.loops.drafts.picks import picked, summed
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import accesses

MOST_TERMS: Final = 32
"""Terms of a sum that are written one after the other."""
MOST_NESTED: Final = 64
MOST_STEPS: Final = 1 << 13
"""Terms of a sum of sums that are written out, and the steps of such a stage: it computes what it
reads again and again, which is to take less time than another kernel's launch."""


def is_short(stage: Scope) -> bool:
    """Whether the terms of the stage's sum may be written one after the other."""
    return picked(stage) is None and _terms(stage) <= MOST_TERMS and stage.reducer in WORDS


def _terms(stage: Scope) -> int:
    return prod(stage.domain[i].extent for i in summed(stage))


def _may_nest(group: Group, sums: set[Scope]) -> bool:
    """Whether the sums that read sums have few terms, those of what they read counted each time."""
    found: dict[Scope, int] = {}
    for stage in group.stages:  # producers first
        read = [found.get(a.source, 1) for a in accesses(stage.body) if isinstance(a.source, Scope)]
        below = max(read, default=1)
        found[stage] = below * (_terms(stage) if stage in sums else 1)
        far = found[stage] > MOST_NESTED or found[stage] * stage.size > MOST_STEPS
        if far and stage in sums and below > 1:
            return False
    return True


def written(group: Group, *, open_sizes: bool) -> Iterator[Group]:
    """The group with all its sums written out, if they are short, and none is read at several
    places, or by another sum, be it through other stages, with many terms of terms, which take too
    long to compile.  With `open_sizes`, no extent of a sum may be a size."""
    sums = {stage for stage in group.stages if summed(stage)}
    if not sums or not all(map(is_short, sums)) or not _may_nest(group, sums):
        return
    if open_sizes and any(s.domain[i].extent > SMALL for s in sums for i in summed(s)):
        return
    rows = {stage: set[object]() for stage in sums}
    for reader in group.stages:
        for access in accesses(reader.body):
            if isinstance(access.source, Scope) and access.source in rows:
                rows[access.source].add((reader, access.rows))
    if all(len(found) <= 1 for found in rows.values()):
        yield replace(group, written=tuple(stage for stage in group.stages if stage in sums))
