"""Windows: what a kernel keeps of a stage that is read at several places, while it moves on.

    T[i,j] = f(A[i,j]);  Y[i,j] = T[i-1,j] + T[i,j] + T[i+1,j]

    for i0:  row i0+1 of T, into a window of three rows;  row i0 of Y, from the window

Without a window, f is computed three times for each element.  All windows of a kernel move along
one of its loops, or none does.  A stage whose window another one reads is this many rows further
ahead.  In the inner loop's dimension a window is a block, with what is read beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Final, NamedTuple

from einderive.eops.loops.drafts.draft import Draft
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.short_sums import is_short
from einderive.eops.loops.drafts.values import Load, Total, Value, Windowed, needed_for
from einderive.eops.loops.plan import Phase, Plan, Side, Window
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Access, Apply, Scope
from einderive.ta.ir.subst import accesses, walk

BYTES: Final = {"bool": 1, "float32": 4, "int32": 4}
"""Of an element of a window; of other types 8."""


def with_windows(group: Group) -> Iterator[Group]:
    """The group with windows of its stages that are read at several places, and with windows of
    those only that take long."""
    readers: dict[Scope, list[tuple[Scope, Access]]] = {stage: [] for stage in group.stages}
    for reader in group.stages:
        for access in accesses(reader.body):
            if isinstance(access.source, Scope) and access.source in readers:
                readers[access.source].append((reader, access))
    often, within = list[Scope](), list[Scope]()
    for stage in reversed(group.stages):
        if stage in group.outputs or not is_short(stage):
            continue
        rows = [access.rows for _, access in readers[stage]]
        moved = any(row.lone is None and row.terms for each in rows for row in each)
        if moved or len({*rows}) > 1:  # it is read at several places
            often.insert(0, stage)
        elif any(reader in often or reader in within for reader, _ in readers[stage]):
            within.insert(0, stage)
    slow = [s for s in group.stages if (s in often or s in within) and _takes_long(s)]
    for chosen in dict.fromkeys((tuple(often), tuple(slow))):
        if chosen:
            yield replace(group, windows=chosen)


def _takes_long(stage: Scope) -> bool:
    return bool(stage.sums) or any(isinstance(node, Apply) for node in walk(stage.body))


def windowed(made: Plan, draft: Draft, along: int | None) -> Plan | None:
    """The plan, of the draft without windows, with windows that move along this loop; None where
    they do not move so."""
    return _Moving(made, draft, along).found()


class _Read(NamedTuple):
    """A read of a window by the pass that fills the window of this number, or by the last ones."""

    reader: int | None
    rows: tuple[Row, ...]


class _Elsewhere(Exception):
    """The windows do not move so."""


class _Moving:
    def __init__(self, plan: Plan, draft: Draft, along: int | None) -> None:
        self.plan, self.draft, self.along = plan, draft, along
        self.made: dict[int, Window] = {}
        self.reads: dict[int, list[_Read]] = {k: [] for k in range(len(draft.windows))}
        self._collect(None, [one.value for one in draft.ends])
        for k, window in enumerate(draft.windows):
            self._collect(k, [window.value])

    def _collect(self, reader: int | None, roots: Sequence[int]) -> None:
        for value in _closure(self.draft.values, roots):
            if isinstance(value, Windowed):
                self.reads[value.window].append(_Read(reader, value.rows))

    def found(self) -> Plan | None:
        try:
            for k in reversed(self.reads):
                self.made[k] = self._window(k)
            swept = self._swept()
        except _Elsewhere:
            return None
        windows = [self._lying(self.made[k], swept) for k in self.reads]
        block = self._block(windows)
        if block is None:
            return None
        filling = [Phase(self._loops(w), (), (), window=k) for k, w in enumerate(windows)]
        phases = [replace(phase, loops=(*swept, *phase.loops)) for phase in self.plan.phases]
        found = replace(
            self.plan,
            phases=(*filling, *phases),
            parallel=tuple(i for i in self.plan.parallel if i not in swept),
            turned=None,
            block=block,
            windows=tuple(windows),
            along=self.along,
        )
        return replace(found, stretch=self._stretch(found))

    def _window(self, k: int) -> Window:
        kept, reads = self.draft.windows[k], self.reads[k]
        if any(isinstance(v, Total) for v in _closure(self.draft.values, [kept.value])):
            raise _Elsewhere
        found = Window(kept.value, kept.kind, kept.rows, (None,) * len(kept.rows))
        if self.along is not None:
            found = self._moving(found, reads)
        sides: list[Side | None] = [None] * len(kept.rows)
        for d in reversed(range(len(sides))):
            if d == found.moving:
                continue
            beside = None if any(side and side.inner for side in sides) else self._beside(reads, d)
            place = kept.rows[d].lone
            if beside is not None:
                sides[d] = beside
            elif place is None or place in (self.along, self.plan.inner):
                raise _Elsewhere
            elif place >= self.draft.shared:
                sides[d] = Side(*self._span([read.rows[d] for read in reads]))
        return replace(found, sides=tuple(sides))

    def _moving(self, window: Window, reads: Sequence[_Read]) -> Window:
        """Element `lead` is the last one that a step reads, `first` the first one that the first
        step does, and those in between are there at the same time."""
        readers = [None if read.reader is None else self.made[read.reader] for read in reads]
        steps = [self.along if reader is None else reader.step for reader in readers]
        leads = [0 if reader is None else reader.lead for reader in readers]
        firsts = [0 if reader is None else reader.first for reader in readers]
        for d, row in enumerate(window.rows):
            rests = [self._rest(r.rows[d], step) for r, step in zip(reads, steps, strict=True)]
            spans = [span for span in rests if span is not None]
            if len(spans) < len(rests):
                continue
            lead = max(at + high for at, (_, high) in zip(leads, spans, strict=True))
            least = min(at + low for at, (low, _) in zip(leads, spans, strict=True))
            first = min(at + low for at, (low, _) in zip(firsts, spans, strict=True))
            depth = lead - least + 1
            return replace(window, moving=d, step=row.lone, lead=lead, first=first, depth=depth)
        raise _Elsewhere

    def _beside(self, reads: Sequence[_Read], d: int) -> Side | None:
        """The dimension's part that belongs to a block of the inner loop, if there is one."""
        lows, highs = list[int](), list[int]()
        for reader, rows in reads:
            inner: int | None = self.plan.inner
            side: Side | None = Side(0, 0)
            if reader is not None:
                inner = self.made[reader].inner
                side = self.made[reader].beside
            span = self._rest(rows[d], inner)
            if span is None or side is None:
                return None
            lows.append(side.lo + span[0])
            highs.append(side.hi + span[1])
        return Side(min(lows), max(highs), inner=True)

    def _rest(self, row: Row, place: int | None) -> tuple[int, int] | None:
        """The bounds of what the row adds to the iterator."""
        if place is None:
            return None
        rest = affine.add(row, affine.iterator(place), -1)
        inside = place in affine.iterators(rest)
        return None if inside else affine.bounds(rest, self.draft.domain)

    def _span(self, rows: Sequence[Row]) -> tuple[int, int]:
        lows, highs = zip(*(affine.bounds(row, self.draft.domain) for row in rows), strict=True)
        return min(lows), max(highs) + 1

    def _swept(self) -> tuple[int, ...]:
        """The shared loops that a step goes through: windows are read at several of their steps."""
        found = set[int]()
        for k, reads in self.reads.items():
            for d, side in enumerate(self.made[k].sides):
                if side is not None and not side.inner:
                    found |= {i for read in reads for i in affine.iterators(read.rows[d])}
        swept = sorted(i for i in found if i in self.plan.parallel and i != self.along)
        loops = any(phase.loops or phase.reductions for phase in self.plan.phases)
        if swept and loops:
            raise _Elsewhere
        return tuple(swept)

    def _lying(self, window: Window, swept: Collection[int]) -> Window:
        """The window, which holds what is read at every step of a loop that a step goes through."""
        sides = zip(window.rows, window.sides, strict=True)
        lying = (Side(*self._span([row])) if row.lone in swept else side for row, side in sides)
        return replace(window, sides=tuple(lying))

    def _block(self, windows: Sequence[Window]) -> int | None:
        """The steps of a block for which the windows are small enough."""
        plan, block = self.plan, self.plan.block
        if plan.inner is not None and plan.turned is not None:
            long = plan.domain[plan.inner].extent
            block = plan.sizes.block if long >= 2 * plan.sizes.block else long
        while sum(w.size(block) * BYTES.get(w.kind, 8) for w in windows) > plan.sizes.window:
            if block < 2 * plan.sizes.least_tile:
                return None
            block //= 2
        return block

    def _loops(self, window: Window) -> tuple[int, ...]:
        """The loops of the pass that fills the window, the best one for vectors last."""
        values = _closure(self.draft.values, [window.value])
        loads = [value for value in values if isinstance(value, Load)]
        sides = zip(window.rows, window.sides, strict=True)
        found = [row.lone for row, side in sides if side is not None and row.lone is not None]
        found = [i for i in found if i == window.inner or self.draft.domain[i].extent > 1]
        last = window.inner
        if last is None and found:
            last = max(found, key=lambda i: (sum(load.step(i) == 1 for load in loads), i))
        return tuple(sorted(found, key=lambda i: (i == last, i)))

    def _stretch(self, plan: Plan) -> int:
        """So many steps that few are made before the first result."""
        if plan.along is None:
            return 1
        extent = plan.domain[plan.along].extent
        pieces = plan.blocks * prod(plan.domain[i].extent for i in plan.parallel)
        some = max(-(-pieces // (2 * plan.sizes.pieces)), plan.sizes.stretch * plan.ahead)
        return min(some, extent)


def _closure(values: Sequence[Value], roots: Sequence[int]) -> list[Value]:
    """The values that these are computed from, and these."""
    return [values[place] for place in needed_for(values, roots)]
