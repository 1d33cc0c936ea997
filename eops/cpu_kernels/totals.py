"""The text of a pass's totals: what they begin with, and how those of several steps and of several
threads become one.

    rows       t0 = -inf;  key0 = ...             names, one for each part of a pass's sum
    columns    store(t0, i0 - low, -inf)          memory, a total for each step of the block
    abreast    store(t0, i0 - low + 10 * r, ...)  one for each step of a run, which are then folded
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from einderive.eops.cpu_kernels.points import Points
from einderive.eops.cpu_kernels.writing import identity, of_team, of_two
from einderive.eops.loops.cost import is_written_out
from einderive.ta.functions import REDUCERS


class Totals(Points):
    """The text of what one pass does with its totals besides adding to them."""

    @property
    def _run_of(self) -> int:
        """So many steps of the own loop are one run of the inner loop."""
        return self.plan.abreast if self.phase.loops else 1

    def _high(self) -> str:
        """Where a run of the inner loop ends, in columns."""
        assert self.plan.inner is not None
        more = (self._run_of - 1) * self.plan.domain[self.plan.inner].extent
        return f"high + {more}" if more else "high"

    def _start(self) -> None:
        """What totals begin with."""
        named = [(k, identity(self.plan.reductions[k])) for k in self.phase.reductions]
        if self.rows:
            for k, start in named:
                self.text.add(f"t{k} = {start}")
        elif named:
            self.text.open(f"for i{self.plan.inner} in range(low, {self._high()}):")
            for k, start in named:
                self.text.add(f"store({self._total(k)}, {start})")
            self.text.close()

    def _several(self, i: int, lo: str, hi: str) -> str:
        """The steps of the last own loop that are not done one by one; where the rest begins."""
        if self.phase.jam > 1:
            lo = self._jammed(i, lo, hi)
        if self._run_of > 1:
            self.text.add(f"runs = {hi} - ({hi} - {lo}) % {self._run_of}")
            self.text.open(f"for i{i} in range({lo}, runs, {self._run_of}):")
            self._points("low", self._high(), checked=False)
            self.text.close()
            return "runs"
        return lo

    def _points(self, low: str, high: str, *, checked: bool) -> None:
        """The inner loop."""
        raise NotImplementedError

    def _jammed(self, i: int, lo: str, hi: str) -> str:
        """Several steps of the last own loop within one run of the inner one, which so reads and
        writes its totals once for all of them; the step at which the rest begins."""
        jam, inner, steps = self.phase.jam, self.order[-1], self.plan.domain[i]
        by = jam * self._run_of
        if self.plan.together or self._run_of > 1:
            self.text.add(f"rest = {hi} - ({hi} - {lo}) % {by}")
            rest = "rest"
        else:
            rest = self.kernel.numbers.count(steps.hi - steps.extent % jam)
        self.text.open(f"for b{i} in range({lo}, {rest}, {by}):")
        self.text.open(f"for i{inner} in range(low, {self._high()}):")
        for k in self.phase.reductions:
            self.text.add(f"s{k} = load({self._total(k)})")
        for step in range(0, by, self._run_of):
            self.text.add(f"i{i} = b{i} + {step}")
            self._values(len(self.order) - 1)
            self._values(len(self.order))
            for k in self.phase.reductions:
                if self._is_short(k):
                    value = self.kernel.name(self.plan.reductions[k].value)
                    self.text.add(f"short{k} = {f'short{k} + {value}' if step else value}")
                else:
                    self.text.add(f"s{k} = {self._combined(k, f's{k}')}")
            self._write()
        for k in filter(self._is_short, self.phase.reductions):
            self.text.add(f"s{k} = s{k} + float64(short{k})")
        for k in self.phase.reductions:
            self.text.add(f"store({self._total(k)}, s{k})")
        self.text.close(2)
        return rest

    def _end(self) -> None:
        """The totals of all steps of a run, and of all threads, become one; later passes have one
        for each step of a run again."""
        found = self.phase.reductions
        if self._run_of > 1 and found:
            self._for_other_steps([f"t{k}" for k in found], self._folded)
        if self.plan.together and found:
            self._meet()
        later = any(phase.loops for phase in self.plan.phases[self.number + 1 :])
        if self.plan.abreast > 1 and later:
            kept = (self.plan.stored(place) for place in self.phase.kept)
            memory = [f"k{one.value}" for one in kept if one is not None and one.output is None]
            memory += [f"t{k}" for k in found]
            self._for_other_steps(memory, _copied)

    def _folded(self, name: str, here: str, at: str) -> tuple[str, str]:
        made = self.plan.reductions[int(name[1:])]
        return f"{name}, {here}", of_two(made, f"load({name}, {here})", f"load({name}, {at})")

    def _for_other_steps(
        self, memory: Sequence[str], line: Callable[[str, str, str], tuple[str, str]]
    ) -> None:
        """For the numbers of a run's other steps, at `at`: what is stored of them where."""
        assert self.plan.inner is not None
        width, here = self.plan.domain[self.plan.inner].extent, self._here()
        if memory:
            self.text.open(f"for run in range(1, {self.plan.abreast}):")
            self.text.open(f"for i{self.plan.inner} in range(low, high):")
            for name in memory:
                where, value = line(name, here, f"{here} + {width} * run")
                self.text.add(f"store({where}, {value})")
            self.text.close(2)

    def _meet(self) -> None:
        """Each total is put together from those of all threads, in the same order by each."""
        inner, made, text = self.plan.inner, self.plan.reductions, self.text
        name, column = ("t", "") if inner is None else ("s", f"for i{inner} in range(low, high):")
        if column:
            text.open(column)
        for k in self.phase.reductions:
            own, total = of_team(made[k].kind), f"load({self._total(k)})" if column else f"t{k}"
            text.add(f"store(team_{own}, {self._of_team(k, 'thread')}, {own}({total}))")
        text.close(bool(column))
        text.add("wait_for_all()")
        if column:
            text.open(column)
        for k in self.phase.reductions:
            text.add(f"{name}{k} = {identity(made[k])}")
        text.open("for q in range(threads):")
        for k in self.phase.reductions:
            other = f"{made[k].kind}(load(team_{of_team(made[k].kind)}, {self._of_team(k, 'q')}))"
            text.add(f"{name}{k} = {of_two(made[k], f'{name}{k}', other)}")
        text.close()
        if column:
            for k in self.phase.reductions:
                text.add(f"store({self._total(k)}, s{k})")
            text.close()

    def _of_team(self, reduction: int, thread: str) -> str:
        """Where a thread's total lies."""
        each, own = self.plan.exchanged, reduction * self.plan.block
        here = "" if self.rows else f" + {self._here()}"
        return f"{thread} * {each} + {own}{here}"

    @property
    def _named(self) -> tuple[int, ...]:
        """The totals that have names, and parts: those of rows."""
        return self.phase.reductions if self.rows else ()

    def _start_parts(self) -> None:
        for k in self._named:
            made = self.plan.reductions[k]
            if REDUCERS[made.reducer].order:
                self.text.add(f"key{k} = least_key_{made.kind}")
            else:
                self.text.add(f"part{k} = {identity(self.plan.reductions[k])}")

    def _end_parts(self) -> None:
        for k in self._named:
            made = self.plan.reductions[k]
            last = f"key{k}" if is_written_out(self.plan, self.phase) else f"settled(key{k})"
            key = f"of_{made.reducer}_key_{made.kind}({last})"
            found = key if REDUCERS[made.reducer].order else f"part{k}"
            self.text.add(f"t{k} = {of_two(made, f't{k}', found)}")


def _copied(name: str, here: str, at: str) -> tuple[str, str]:
    return f"{name}, {at}", f"load({name}, {here})"
