"""The text of one pass of a kernel: its loops, and what is computed in each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from einderive.eops.cpu_kernels.overlapped import Parts, overlapped
from einderive.eops.cpu_kernels.points import SHORT
from einderive.eops.cpu_kernels.prefetched import prefetched
from einderive.eops.cpu_kernels.totals import Totals
from einderive.eops.cpu_kernels.writing import of_row
from einderive.eops.loops.cost import LINE, chosen_in, segments_of
from einderive.eops.loops.drafts.values import (
    Choice,
    Load,
    lanes,
    parts,
    rows_of,
)
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.element import element_bytes

LETTERS: Final = "vuxyadefghjz"
"""What the names of an inner loop's values begin with, one for each time that it is written: what
is assigned once is what numba takes least time for.  Nothing else has such a name: c0 is an
argument."""


MOST_WRITTEN: Final = 64
"""The most values that a loop of several lanes writes."""


class Pass(Totals):
    """The text of one pass."""

    def write(self) -> None:
        together = self.plan.together
        self._start()
        self._values(0)
        depth = self.text.depth
        if together and not self.phase.loops and not self.phase.kept:
            self.text.open("if thread == 0:")
        for level, i in enumerate(self.order[:-1], 1):
            lo, hi = self._range(i)
            if level == len(self.order) - 1:
                lo = self._several(i, lo, hi)
            self.text.open(f"for i{i} in range({lo}, {hi}):")
            self._values(level)
        if self.order:
            self._inner()
        else:
            self._stores()
        self.text.depth = depth
        self._end()

    def _range(self, i: int) -> tuple[str, str]:
        """The steps of a loop; where all threads work together, those of this one."""
        lo, hi = self.plan.domain[i]
        if not self.plan.together or i != self.order[0]:
            return self._bound(i, lo), self.kernel.numbers.end(hi)
        part = f"{self._bound(i, hi - lo)} * (thread{{}}) // threads"
        shift = f"{self._bound(i, lo)} + " if lo else ""
        self.text.add(f"first = {shift}{part.format('')}", f"last = {shift}{part.format(' + 1')}")
        return "first", "last"

    def _inner(self) -> None:
        """The inner loop; where its steps decide a choice, a loop for each part with one answer."""
        inner, whole = self.order[-1], self.needed
        low, high = ("low", "high") if not self.rows else self._range(inner)
        if not self.rows and self.plan.blocks == 1 and not self.kernel.numbers.open:
            low, high = map(str, self.plan.domain[inner])  # so that `lowering` sees how short it is
        self._start_parts()
        for segment in segments_of(self.plan, self.number, not self.kernel.numbers.open):
            self.segment, self.chosen = segment, chosen_in(self.plan, self.number, inner, segment)
            self.needed = self.plan.needed_with(self.number, self.chosen)
            self._segment(*self._ends(low, high))
            self.needed, self.chosen = whole, {}
        self._end_parts()

    def _ends(self, low: str, high: str) -> tuple[str, str]:
        """The steps of the part of the inner loop."""
        inner, (steps, holds, cut) = self.order[-1], self.segment
        whole = self.plan.domain[inner]
        if cut is not None:
            by = self._whole(cut.coefficient(inner), of_row(cut))
            text = f"-(({self._without_step(cut)}) // {by})"
            self.text.add(f"cut = max({low}, min({text}, {high}))")
            return ("cut", high) if holds[cut] else (low, "cut")
        if steps.lo != whole.lo:
            low = f"max({low}, {steps.lo})"
        if steps.hi != whole.hi:
            high = f"min({high}, {steps.hi})"
        return low, high

    def _without_step(self, row: Row) -> str:
        """What the row is where the inner loop's iterator is 0."""
        inner = self.order[-1]
        rest = affine.add(row, affine.iterator(inner), -row.coefficient(inner))
        return self._row(rest, of_row(row))

    def _segment(self, low: str, high: str) -> None:
        """A part of the inner loop; where it reaches a border, first the part inside, then both
        ends, which have one text, as compiling it takes long.  Where a quotient stays the same for
        many steps, it is that of a loop around them, and what it makes of the rows is read step by
        step."""
        text, depth = self.text, self.text.depth
        for row, divisor in parts(self._cut(), self.order[-1]):
            low, high = self._one_quotient(row, divisor, low, high)
        bounded, several = list(dict.fromkeys(self._bounds())), self._lanes()
        apart, checked = several > 1 and not self._even(several), bool(bounded)
        if bounded or apart:
            text.add(f"start, stop = {low}, {high}", *bounded)
            text.add(f"start = min(start, {high})", "stop = max(stop, start)")
            if several > 1:
                text.add(
                    f"head = -(-start // {several})",
                    f"tail = max(head, stop // {several})",
                    f"start = min({several} * head, {high})",
                    f"stop = max({several} * tail, start)",
                )
                self._in_lanes(several, "head", "tail", checked=False)
            else:
                self._points("start", "stop", checked=False)
            text.open("for side in range(2):")
            text.add(f"begin = stop if side else {low}", f"end = {high} if side else start")
            low, high = "begin", "end"
        elif several > 1:
            self._in_lanes(
                several, f"({low}) // {several}", f"({high}) // {several}", checked=checked
            )
        if not bounded and several == 1 and (two := self._overlapped()) is not None:
            lo, hi = self.plan.domain[self.order[-1]]
            self._points(f"{lo}", f"{two.full}", checked=False)
            self.before = f"i{self.order[-1]} < {two.full}"
            self._points(f"{two.again}", f"{hi}", checked=False)
            self.before = ""
        elif bounded or apart or several == 1:
            self._points(low, high, checked=checked)
        text.depth, self.kernel.quotients = depth, {}

    def _overlapped(self) -> Parts | None:
        """Two loops over the whole inner loop, where it has no parts otherwise."""
        inner = self.order[-1]
        whole = self.segment.cut is None and self.segment.steps == self.plan.domain[inner]
        if not whole or self.kernel.numbers.open or self.kernel.quotients or self._has_near():
            return None
        inside = tuple(p for p in self.needed if p not in self.again and self._at(p))
        return overlapped(self.plan, self.phase, inner, inside)

    def _cut(self) -> list[Row]:
        """The rows of what the inner loop reads and writes."""
        made = (self.plan.values[p] for p in self.needed if p not in self.again and self._at(p))
        outputs = (self.plan.outputs[k].offset for k in self.phase.outputs)
        return [*(row for value in made for row in rows_of(value)), *outputs]

    def _one_quotient(self, row: Row, divisor: int, low: str, high: str) -> tuple[str, str]:
        """A loop over the values of `row // divisor`, and the steps that have this value."""
        inner, kernel = self.order[-1], self.kernel
        place = len(self.plan.domain) + len(kernel.quotients)
        step, by = (self._whole(n, of_row(row)) for n in (row.coefficient(inner), divisor))
        rest, q = f"rest{place}", f"i{place}"
        self.text.add(f"{rest} = {self._without_step(row)}")
        least = f"({step} * {low} + {rest}) // {by}"
        most = f"({step} * ({high} - 1) + {rest}) // {by}"
        self.text.open(f"for {q} in range({least}, {most} + 1):")
        self.text.add(
            f"low{place} = max({low}, -(({rest} - {q} * {by}) // {step}))",
            f"high{place} = min({high}, -(({rest} - ({q} + 1) * {by}) // {step}))",
        )
        kernel.quotients = {**kernel.quotients, (row, divisor): place}
        return f"low{place}", f"high{place}"

    def _lanes(self) -> int:
        """This many steps of the inner loop are written as one, which so divides no index."""
        if self.phase.window is not None or self._has_near():
            return 1
        several = lanes(map(self.kernel.without, self._cut()), self.order[-1])
        return several if several * sum(map(self._at, self.needed)) <= MOST_WRITTEN else 1

    def _even(self, several: int) -> bool:
        """Whether the inner loop begins and ends at multiples."""
        plan = self.plan
        if self.kernel.numbers.open or self.kernel.quotients or plan.together:
            return False
        block = plan.block if plan.blocks > 1 else 0
        ends = self.segment.steps if self.segment.cut is None else (1,)
        return not any(number % several for number in (*ends, block))

    def _in_lanes(self, several: int, low: str, high: str, *, checked: bool) -> None:
        inner, known = self.order[-1], self.kernel.names
        depth = self._open(low, high, several=several)
        inside = [place for place in self.needed if self._at(place)]
        step = affine.scale(affine.iterator(inner), several)
        for lane in range(several):
            self.kernel.moved = {inner: affine.shift(step, lane)}
            self.kernel.names = {**known, **{place: f"v{place}_{lane}" for place in inside}}
            self._values(len(self.order), checked=checked)
            self._stores()
        self.kernel.moved, self.kernel.names = {}, known
        self._close(depth)

    def _open(self, low: str, high: str, *, several: int = 1) -> int:
        """The inner loop.  Sums of float32 have a total in float32 for some steps, which is added
        to the one in float64: twice as many numbers are added at once.  The depth outside."""
        inner, depth = f"i{self.order[-1]}", self.text.depth
        short = [*self._short()]
        side, most = self.plan.domain[self.order[-1]], self.plan.sizes.terms
        if short and (self.kernel.numbers.open or side.extent > most):
            self.text.open(f"for from_{inner} in range({low}, {high}, {most}):")
            low, high = f"from_{inner}", f"min(from_{inner} + {most}, {high})"
        if short and several == 1:
            self._prefetch(low, high)
        for k in short:
            self.text.add(f"{self._part(k)} = {self._number(0, SHORT)}")
        self.text.open(f"for {inner} in range({low}, {high}):")
        return depth

    def _prefetch(self, low: str, high: str) -> None:
        """The lines of results that the next pass writes at these steps, which follow a block of
        short totals: so each block has a few of them, and none waits for the others."""
        inner = self.order[-1]
        for k in prefetched(self.plan, self.number):
            out = self.plan.outputs[k]
            self.text.open(
                f"for i{inner} in range({low}, {high}, {LINE // element_bytes(out.scope)}):"
            )
            self.text.add(f"prefetch(o{k}, {self._row(out.offset, of_row(out.offset))})")
            self.text.close()

    def _close(self, depth: int) -> None:
        self.text.close()
        for k in self._short():
            self.text.add(f"part{k} = part{k} + float64({self._part(k)})")
        self.text.depth = depth

    def _short(self) -> Iterator[int]:
        """Sums of an inner loop with totals in float32."""
        return filter(self._is_short, self._named)

    def _points(self, low: str, high: str, *, checked: bool) -> None:
        """The inner loop; with functions in their form for operands that are near, and once more
        where one was not."""
        self.near = self._has_near()
        if self.near:
            totals = [self._whole_part(k) for k in self.phase.reductions]
            self.text.add("far = int32(0)", *(f"before_{total} = {total}" for total in totals))
            self._run(low, high, checked=checked)
            self.near = False
            self.text.open("if far != int32(0):")
            self.text.add(*(f"{total} = before_{total}" for total in totals))
        self._run(low, high, checked=checked)
        self.text.close(bool(self._has_near()))

    def _run(self, low: str, high: str, *, checked: bool) -> None:
        known = self.kernel.names
        inside, letter = filter(self._at, self.needed), LETTERS[self.runs]
        self.runs += 1
        self.kernel.names = {**known, **{place: f"{letter}{place}" for place in inside}}
        depth = self._open(low, high)
        self._values(len(self.order), checked=checked)
        self._stores()
        self._close(depth)
        self.kernel.names = known

    def _has_near(self) -> bool:
        """Whether a function at a point has a form for operands that are near, and the loop may run
        twice: totals in memory would count all twice, and what a result is written over is gone."""
        over = any(kept.output in self.phase.outputs for kept in self.plan.kept)
        if over or (self.phase.reductions and not self.rows):
            return False
        inside = (self.plan.values[p] for p in self.needed if p not in self.again and self._at(p))
        return any(map(self._is_near, inside))

    def _bounds(self) -> Iterator[str]:
        """Lines that narrow `start` and `stop` to where no index misses that follows the loop."""
        inner = self.order[-1]
        for held in self._held():
            if self._always(held):
                continue
            row = self.kernel.without(held)
            step, bound = row.coefficient(inner), self._without_step(row)
            if step > 0:
                yield f"start = max(start, -(({bound}) // {self._whole(step, of_row(row))}))"
            else:
                yield f"stop = min(stop, ({bound}) // {self._whole(-step, of_row(row))} + 1)"

    def _always(self, row: Row) -> bool:
        """Whether the row is known not to be negative in this part of the inner loop."""
        steps = {**dict(enumerate(self.plan.domain)), self.order[-1]: self.segment.steps}
        return not self.kernel.numbers.open and affine.bounds(row, steps)[0] >= 0

    def _held(self) -> Iterator[Row]:
        """Rows that follow the inner loop and are not negative where nothing misses."""
        for place in self.needed:
            value = self.plan.values[place]
            if place in self.again:
                continue
            if isinstance(value, Load):
                for one in value.checked:
                    if self._splits(one.row):
                        yield one.row
                        yield affine.add(affine.constant(one.extent - 1), one.row, -1)
            elif isinstance(value, Choice) and value.border:
                yield from (c.row for c in value.conditions if self._splits(c.row))
