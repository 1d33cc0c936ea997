"""From the plan of a kernel to its source in Python, as `lowering` and numba compile it.

    def kernel(data):                       addresses: the operands' and, last, the results'
        for w in range(...):                this thread's pieces of work
            i0 = ...                        the loops that run in parallel
            for i1 in range(start, stop):   where no index misses
            for side in range(2):
                for i1 in range(begin, end):    before and after that: checked
            ...                             the next pass

A value is computed in the outermost loop that has all its iterators.  A checked index is put back
inside of the operand, and what is read there is replaced by the fill.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.cpu_kernels.passes import Pass
from einderive.eops.cpu_kernels.windows import WindowPass
from einderive.eops.cpu_kernels.writing import Room, Writer, of_team
from einderive.eops.loops.cost import in_tiles
from einderive.eops.loops.drafts.values import Load
from einderive.eops.loops.plan import Phase, Plan
from einderive.ta.ir import affine

MOST_TURNED: Final = 2
"""More tiles would not lie in the nearest cache."""


def turned_loads(plan: Plan) -> tuple[int, ...]:
    """The reads whose tiles are turned."""
    values = enumerate(plan.values)
    found = [place for place, v in values if isinstance(v, Load) and in_tiles(plan, v)]
    return tuple(found[:MOST_TURNED])


class Emitter:
    """The source of one kernel; `rooms` are what it needs of memory besides, `numbers` what follows
    the addresses in its data."""

    def __init__(self, plan: Plan, numbers: Numbers | None = None) -> None:
        self.plan = plan
        self.numbers = numbers or Numbers()
        self.writer = Writer(plan, self.numbers)
        self.writer.turned = turned_loads(plan)
        self.text = self.writer.text
        room = self.numbers.room
        self.rooms = [*self._kept()]
        self.rooms += [
            Room(f"w{k}", window.kind, window.size(plan.block))
            for k, window in enumerate(plan.windows)
        ]
        tile = plan.sizes.turned * plan.sizes.turned_block
        self.rooms += [
            Room(f"q{place}", plan.values[place].kind, tile) for place in self.writer.turned
        ]
        totals = enumerate(plan.reductions)
        if plan.row is not None:
            self.rooms += [Room(f"s{k}", made.kind, plan.batch) for k, made in totals]
        if plan.inner is not None:
            self.rooms += [
                Room(f"t{k}", made.kind, room(plan.block * plan.abreast, plan.sizes.tile))
                for k, made in totals
            ]

    def _kept(self) -> Iterator[Room]:
        """What passes keep for later ones; each of several may be as large as any size needs."""
        plan, room = self.plan, self.numbers.room
        kept = [one for one in plan.kept if one.output is None]
        large = [one for one in kept if plan.row is None or one.size > 1]
        share = plan.sizes.kept // max(len(large), 1) if plan.inner is None else plan.sizes.tile
        for one in kept:
            size = one.size * plan.abreast * plan.batch
            most = share if one in large else size
            yield Room(f"k{one.value}", plan.values[one.value].kind, room(size, most))

    def source(self) -> str:
        """The function's text."""
        plan, text, bound = self.plan, self.text, self.writer.bound
        operands = len(plan.group.operands)
        text.add("wide_vectors()")
        read = {value.operand for value in plan.values if isinstance(value, Load)}
        for k in sorted(read):
            text.add(f"p{k} = address{k}(data, {k})")
        for k in range(len(plan.outputs)):
            text.add(f"o{k} = result{k}(data, {operands + k})")
        for room in self.rooms:
            text.add(f"{room.name} = {room.function}()")
        start = len(text.lines)
        looped = {*plan.parallel, plan.inner, *(i for p in plan.phases for i in p.loops)}
        for i, side in enumerate(plan.domain):
            if i not in looped:
                text.add(f"i{i} = {bound(i, side.lo)}")
        text.add("thread, threads = this_thread(), all_threads()")
        if plan.together:
            for kind in sorted({of_team(made.kind) for made in plan.reductions}):
                place = operands + len(plan.outputs)
                text.add(f"team_{kind} = totals_{kind}(data, {place})")
        if not plan.together:
            pieces = self.numbers.count(plan.pieces)
            text.open(
                f"for w in range({pieces} * thread // threads, {pieces} * (thread + 1) // threads):"
            )
        elif plan.parallel:
            text.open(f"for w in range({self.numbers.count(plan.pieces)}):")
        self._decode()
        if plan.turned is not None:
            hi, name = bound(plan.turned, plan.domain[plan.turned].hi), f"i{plan.turned}"
            text.add(f"tile, last = {name}, min({name} + {plan.sizes.turned}, {hi})")
            for place in self.writer.turned:
                self._turn(place)
            text.open(f"for {name} in range(tile, last):")
        if plan.along is not None:
            self._advance(f"i{plan.along}", plan.domain[plan.along].hi)
        for number, phase in enumerate(plan.phases):
            if phase.window is not None:
                WindowPass(self.writer, number, phase).write()
        if plan.ahead:
            text.open(f"if i{plan.along} >= origin:")
        if plan.row is not None:
            hi, name = bound(plan.row, plan.domain[plan.row].hi), f"i{plan.row}"
            text.add(f"row, rows = {name}, min({name} + {plan.batch}, {hi})")
        for number, phase in enumerate(plan.phases):
            if phase.window is None:
                self._pass(number, phase)
        if plan.together and plan.parallel:  # all have read the totals of this piece
            text.add("wait_for_all()")
        first = operands + len(plan.outputs) + bool(plan.exchanged)
        text.lines[start:start] = ["    " + line.format(first=first) for line in self.numbers.lines]
        return "\n".join(["def kernel(data):", *text.lines]) + "\n"

    def _pass(self, number: int, phase: Phase) -> None:
        """A pass; over all rows of a batch, where there are batches."""
        row, text = self.plan.row, self.text
        if row is not None:
            text.open(f"for i{row} in range(row, rows):")
            self.writer.known = set()
        Pass(self.writer, number, phase).write()
        if row is not None:
            for k in phase.reductions:
                text.add(f"store(s{k}, i{row} - row, t{k})")
            text.close()

    def _turn(self, place: int) -> None:
        """A tile of a read that goes across the operand's memory, turned."""
        plan, load = self.plan, self.plan.values[place]
        assert plan.inner is not None
        assert isinstance(load, Load)
        of, stride = f"p{load.operand}", load.offset.coefficient(plan.inner)
        rest = affine.add(load.offset, affine.iterator(plan.inner), -stride)
        step = self.numbers.whole(stride, of)
        first = f"{self.writer.row(rest, of)} + {step} * low"
        width = plan.sizes.turned_block
        self.text.add(
            f"turn_{load.dtype}(q{place}, {width}, {of}, {first}, {step}, last - tile, high - low)"
        )

    def _advance(self, name: str, hi: int) -> None:
        """One step after the other, the first ones for windows alone."""
        ahead = f" - {self.plan.ahead}" if self.plan.ahead else ""
        self.text.add(f"origin = {name}")
        self.text.open(
            f"for {name} in range(origin{ahead}, min(origin + {self.plan.stretch}, {hi})):"
        )

    def _decode(self) -> None:
        """The piece's iterators and its part of the inner loop."""
        plan, text = self.plan, self.text
        bound, count = self.writer.bound, self.numbers.count
        rest = "w"
        if plan.inner is not None:
            low, high = (bound(plan.inner, end) for end in plan.domain[plan.inner])
            if plan.blocks > 1 or self.numbers.open:
                blocks, block = count(plan.blocks), count(plan.block)
                text.add(f"low = {low} + w % {blocks} * {block}")
                text.add(f"high = min(low + {block}, {high})", f"rest = w // {blocks}")
                rest = "rest"
            else:
                text.add(f"low = {low}", f"high = {high}")
        for place, i in enumerate(reversed(plan.parallel), 1):
            lo = plan.domain[i].lo
            shift = f"{bound(i, lo)} + " if lo else ""
            steps = plan.steps_of(i)
            times = f" * {steps}" if steps > 1 else ""
            if place == len(plan.parallel):
                text.add(f"i{i} = {shift}{rest}{times}")
            else:
                parts = count(plan.parts(i))
                text.add(f"i{i} = {shift}{rest} % {parts}{times}", f"rest = {rest} // {parts}")
                rest = "rest"
