"""A group of stages that one kernel computes, and how their iterators correspond.

    M[i] = max[j](X[i,j]);  D[i] = sum[j](exp(X[i,j]-M[i]));  Y[i,j] = exp(X[i,j]-M[i])/D[i]

One kernel has shared loops, here over i, and for each of its passes own loops, here over j.  All
reductions of the group run over own loops, and are read at the same place of the shared loops.
Other stages are computed where they are read, and written only where they are outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from einderive.eops.loops.drafts.picks import picked, summed
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Scope, Source
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, sources

Read = tuple[Source, tuple[Row, ...]]


@dataclass(frozen=True)
class Group:
    """A group of stages: `stages`, producers first, none with an empty range; `outputs` are those
    that are written; of `windows`, others than these, the kernel keeps what is read soon.  Sums of
    `written` have their terms side by side where they are read."""

    stages: tuple[Scope, ...]
    outputs: tuple[Scope, ...]
    windows: tuple[Scope, ...] = ()
    written: tuple[Scope, ...] = ()

    @classmethod
    def alone(cls, stage: Scope) -> Group:
        return cls((stage,), (stage,))

    @cached_property
    def operands(self) -> tuple[Source, ...]:
        """The tensors that are read, each once, in an order that no size has a part in."""
        read = (source for stage in self.stages for source in sources(stage.body))
        inside = {*self.stages, INDEX}
        found = dict.fromkeys(source for source in read if source not in inside)
        return tuple(sorted(found, key=lambda source: source.label))

    @cached_property
    def reductions(self) -> tuple[Scope, ...]:
        apart = {*self.windows, *self.written}
        return tuple(s for s in self.stages if summed(s) and s not in apart)

    @cached_property
    def computed(self) -> tuple[Scope, ...]:
        """The stages with loops of their own: reductions and outputs."""
        own = {*self.outputs, *self.reductions}
        return tuple(stage for stage in self.stages if stage in own)

    def reads(self, stage: Scope) -> Iterator[Read]:
        """The reads of operands, windows and sums by the stage, also through stages that are
        computed where they are read.  Rows speak of the stage's iterators."""
        inside = {s for s in self.stages if not summed(s) and s not in self.windows}
        start = _rows(stage, [affine.iterator(i) for i in range(len(stage.domain))])
        pending: list[tuple[Access, tuple[Row, ...]]] = [
            (a, tuple(affine.substitute(row, start) for row in a.rows))
            for a in accesses(stage.body)
        ]
        seen: set[Read] = set()
        while pending:
            access, rows = pending.pop(0)
            source = access.source
            if source is INDEX or (source, rows) in seen:
                continue
            seen.add((source, rows))
            if not (isinstance(source, Scope) and source in inside):
                yield source, rows
                continue
            below = _rows(source, rows)
            for inner in accesses(source.body):
                pending.append((inner, tuple(affine.substitute(row, below) for row in inner.rows)))


def is_view(stage: Scope) -> bool:
    """Whether the stage is a part of what it reads, where it lies: no index misses, and elements of
    a dense operand are at a fixed distance along each loop, none of them backwards: torch's views
    have no such strides."""
    body = stage.body
    if stage.sums or not isinstance(body, Access):
        return False
    if not affine.within(body.rows, body.source.ranges, stage.domain):
        return False
    offset, stride = affine.ZERO, 1
    for row, side in zip(reversed(body.rows), reversed(body.source.ranges), strict=True):
        offset = affine.add(offset, row, stride)
        stride *= side.extent
    backwards = any(offset.coefficient(i) < 0 for i in affine.iterators(offset))
    return not offset.floors and not backwards


def _rows(stage: Scope, rows: Sequence[Row]) -> tuple[Row, ...]:
    """These for the stage's iterators; of what a gather computes no row says anything."""
    found = picked(stage)
    fixed = found.values if found is not None else {}
    count = len(stage.domain) if fixed else len(rows)
    return tuple(rows[i] if i < len(rows) and i not in fixed else affine.ZERO for i in range(count))


COMPUTED: Final = -1
"""The place of an iterator whose value is computed."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The correspondence of iterators.  `domain` are the ranges of the kernel's iterators, the
    first `shared` ones shared; `places` says for each computed stage which of them are its
    iterators, or `COMPUTED`."""

    domain: tuple[Range, ...]
    shared: int
    places: Mapping[Scope, tuple[int, ...]]


@lru_cache(maxsize=4096)
def aligned(group: Group) -> Alignment | None:
    """The correspondence of the stages' iterators.  None if they do not correspond."""
    return _Aligning(group).found()


class _Aligning:
    """Stage after stage gets its places: next is one that is related to those that have theirs."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.reads = {stage: tuple(group.reads(stage)) for stage in group.computed}
        first = min(group.reductions or group.computed, key=lambda stage: len(stage.loops))
        self.shared = len(first.loops)
        looped = [*range(len(first.loops)), *summed(first)]
        self.domain = [first.domain[i] for i in looped]
        places = (looped.index(i) if i in looped else COMPUTED for i in range(len(first.domain)))
        self.places: dict[Scope, tuple[int, ...]] = {first: tuple(places)}

    def found(self) -> Alignment | None:
        waiting = [stage for stage in self.group.computed if stage not in self.places]
        while waiting:
            related = {stage: self._related(stage) for stage in waiting}
            stage = next((stage for stage in waiting if related[stage]), waiting[0])
            places = self._places(stage, related[stage])
            if places is None:
                return None
            self.places[stage] = places
            waiting.remove(stage)
        if not all(self._reads_totals_in_place(stage) for stage in self.group.computed):
            return None
        return Alignment(tuple(self.domain), self.shared, self.places)

    def _related(self, stage: Scope) -> dict[int, int]:
        """Places that follow from reads between this stage and others, then from operands that they
        read alike; each of the same range, and taken once."""
        pairs: list[tuple[int | None, int | None]] = []
        for source, rows in self.reads[stage]:
            if isinstance(source, Scope) and source in self.places:
                pairs += [(r.lone, p) for r, p in zip(rows, self.places[source], strict=False)]
        for other, places in self.places.items():
            for source, rows in self.reads[other]:
                if source is stage:
                    pairs += [(d, _at(row, places)) for d, row in enumerate(rows)]
        for other, places in self.places.items():
            for source, rows in self.reads[other]:
                for same, own in self.reads[stage]:
                    if same is source:
                        pairs += [
                            (r.lone, _at(row, places)) for r, row in zip(own, rows, strict=True)
                        ]
        found: dict[int, int] = {}
        for i, place in pairs:
            if i is None or place is None or i in found or place in found.values():
                continue
            summed_and_shared = i >= len(stage.loops) and place < self.shared
            if stage.domain[i] == self.domain[place] and not summed_and_shared:
                found[i] = place
        return found

    def _places(self, stage: Scope, found: dict[int, int]) -> tuple[int, ...] | None:
        loops, free = len(stage.loops), [p for p in range(self.shared) if p not in found.values()]
        for place in free:  # no relation says which: the first loop of the same range
            i = next(
                (
                    i
                    for i in range(loops)
                    if i not in found and stage.domain[i] == self.domain[place]
                ),
                None,
            )
            if i is None:
                return None
            found[i] = place
        own = {place for i, place in found.items() if place >= self.shared}
        sums = summed(stage)
        if sums and any(found.get(i, self.shared) >= self.shared for i in range(loops)):
            return None
        for i in (*range(loops), *sums):
            if i in found:
                continue
            like = (
                place
                for place in range(self.shared, len(self.domain))
                if place not in own and self.domain[place] == stage.domain[i]
            )
            found[i] = next(like, len(self.domain))
            own.add(found[i])
            if found[i] == len(self.domain):
                self.domain.append(stage.domain[i])
        return tuple(found.get(i, COMPUTED) for i in range(len(stage.domain)))

    def _reads_totals_in_place(self, stage: Scope) -> bool:
        """Whether every reduction of the group that the stage reads is read where it is made."""
        places = self.places[stage]
        for source, rows in self.reads[stage]:
            if isinstance(source, Scope) and source in self.places:
                made = self.places[source][: len(source.loops)]
                if tuple(_at(row, places) for row in rows) != made:
                    return False
        return True


def _at(row: Row, places: tuple[int, ...]) -> int | None:
    return None if row.lone is None else places[row.lone]
