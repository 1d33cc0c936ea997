"""A read of a gather as a read at computed indices.

    G[i,k] = S[v] where(I[i] == v, E[v,k], 0)
    G[r,s] = E[v,s] at v = I[r], if I[r] in 0:V, else 0

v becomes one more iterator of the kernel, without a loop: its value is read from memory.  As the
notation has it, an index outside of the range, -1 too, gives 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from einderive.eops.dtypes import operand_type
from einderive.eops.loops.drafts.picks import picked, summed
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Node, Scope, Source
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, substitute


class Picked(NamedTuple):
    """`term`, where the iterators at `places` have the values of these expressions; 0 where one of
    them is outside of its range, which `sides` says in the same order."""

    term: Node
    places: Mapping[int, Node]
    sides: tuple[Range, ...]

    @property
    def reads(self) -> tuple[Access, ...]:
        """What it reads from memory."""
        found = (one for part in (self.term, *self.places.values()) for one in accesses(part))
        return tuple(dict.fromkeys(one for one in found if one.source is not INDEX))


def is_gather(stage: Scope) -> bool:
    """Whether the stage is the one term of a sum whose iterators data fix."""
    return stage.reducer == "sum" and picked(stage) is not None and not summed(stage)


def picked_reads(
    reads: Iterable[Access], gathers: Collection[Scope], domain: tuple[Range, ...]
) -> dict[Access, Picked]:
    """The reads of these gathers by a stage over the domain; the iterators of each come after those
    of the domain and of the reads before it."""
    found: dict[Access, Picked] = {}
    count = len(domain)
    for read in reads:
        source = read.source
        if not isinstance(source, Scope) or source not in gathers or read in found:
            continue
        one = picked(source)
        assert one is not None
        loops = len(source.loops)
        rows = list(read.rows) + [affine.ZERO] * (len(source.domain) - loops)
        places: dict[int, Node] = {}
        for fixed in sorted(one.values):
            rows[fixed] = affine.iterator(count + len(places))
            places[count + len(places)] = substitute(one.values[fixed], rows)
        sides = tuple(source.domain[fixed] for fixed in sorted(one.values))
        found[read] = Picked(substitute(one.body, rows), places, sides)
        count += len(places)
    return found


def are_whole(
    found: Iterable[Picked], domain: tuple[Range, ...], types: Mapping[Source, str]
) -> bool:
    """Whether all places are integers that are computed from integers."""
    for place in (place for one in found for place in one.places.values()):
        read = {one.source for one in accesses(place)} - {INDEX}
        if operand_type([place], domain, [types[source] for source in read]) != "int64":
            return False
    return True
