"""The text of one pass of a kernel: its loops, and what is computed in each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from einderive.eops.cpu_kernels.totals import IN_ANY_ORDER, identity, of_two
from einderive.eops.cpu_kernels.writing import MOST_THREADS, STORED, Writer, half, of_row, of_team
from einderive.eops.dtypes import FLOATS
from einderive.eops.loops.kinds import TRUTH
from einderive.eops.loops.narrow import NARROW
from einderive.eops.loops.plan import Phase
from einderive.eops.loops.values import (
    Checked,
    Choice,
    Constant,
    Load,
    Operation,
    Position,
    Total,
    Value,
    Windowed,
    Within,
    operands_of,
)
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row

NEAR: Final = frozenset({"sin", "cos", "tan", "fmod", "remainder", "floor_divide"})
"""Functions with a form for operands that are near."""


LETTERS: Final = "vuxy"
"""What the names of an inner loop's values begin with, one for each time that it is written: what
is assigned once is what numba takes least time for."""


class Pass:
    """The text of one pass."""

    def __init__(self, kernel: Writer, number: int, phase: Phase) -> None:
        self.kernel, self.plan, self.phase = kernel, kernel.plan, phase
        self._row, self._bound = kernel.row, kernel.bound
        self._whole, self._number = kernel.numbers.whole, kernel.numbers.value
        self.text = kernel.text
        self.order = self.plan.order(phase)
        self.needed = self.plan.needed[number]
        self.again = self.plan.read_again(number)
        self.rows = self.plan.inner is None
        self.near = False
        self.runs = 0

    def write(self) -> None:
        self._start()
        self._values(0)
        for depth, i in enumerate(self.order[:-1], 1):
            lo, hi = self._range(i)
            if self.phase.jam > 1 and depth == len(self.order) - 1:
                lo = self._jammed(i)
            self.text.open(f"for i{i} in range({lo}, {hi}):")
            self._values(depth)
        if self.order:
            self._inner()
        elif self.plan.together:
            self.text.open("if thread == 0:")
            self._stores()
            self.text.close()
        else:
            self._stores()
        self.text.close(max(0, len(self.order) - 1))
        if self.plan.together:
            self._meet()

    def _range(self, i: int) -> tuple[str, str]:
        """The steps of a loop; where all threads work together, those of this one."""
        lo, hi = self.plan.domain[i]
        if not self.plan.together or i != self.order[0]:
            return self._bound(i, lo), self.kernel.numbers.end(hi)
        part = f"{self._bound(i, hi - lo)} * (thread{{}}) // threads"
        shift = f"{self._bound(i, lo)} + " if lo else ""
        self.text.add(f"first = {shift}{part.format('')}", f"last = {shift}{part.format(' + 1')}")
        return "first", "last"

    def _meet(self) -> None:
        """Each total is put together from those of all threads, in the same order by each."""
        if not self.phase.reductions:
            return
        for k in self.phase.reductions:
            own = of_team(self.plan.reductions[k].kind)
            self.text.add(f"store(team_{own}, {k * MOST_THREADS} + thread, {own}(t{k}))")
        self.text.add("wait_for_all()")
        for k in self.phase.reductions:
            self.text.add(f"t{k} = {identity(self.plan.reductions[k])}")
        self.text.open("for q in range(threads):")
        for k in self.phase.reductions:
            made = self.plan.reductions[k]
            found = f"{made.kind}(load(team_{of_team(made.kind)}, {k * MOST_THREADS} + q))"
            self.text.add(f"t{k} = {of_two(made, f't{k}', found)}")
        self.text.close()

    def _jammed(self, i: int) -> str:
        """Several steps of the last own loop within one run of the inner one, which so reads and
        writes its totals once for all of them; the step at which the rest begins."""
        (lo, hi), jam, inner = self.plan.domain[i], self.phase.jam, self.order[-1]
        rest = self.kernel.numbers.count(hi - (hi - lo) % jam)
        self.text.open(f"for b{i} in range({self._bound(i, lo)}, {rest}, {jam}):")
        self.text.open(f"for i{inner} in range(low, high):")
        for k in self.phase.reductions:
            self.text.add(f"s{k} = load({self._total(k)})")
        for step in range(jam):
            self.text.add(f"i{i} = b{i} + {step}")
            self._values(len(self.order) - 1)
            self._values(len(self.order))
            for k in self.phase.reductions:
                self.text.add(f"s{k} = {self._combined(k, f's{k}')}")
            self._write_outputs()
        for k in self.phase.reductions:
            self.text.add(f"store({self._total(k)}, s{k})")
        self.text.close(2)
        return rest

    def _total(self, reduction: int) -> str:
        """Where the total of a step of the block lies."""
        return f"t{reduction}, i{self.plan.inner} - low"

    def _combined(self, reduction: int, total: str) -> str:
        made = self.plan.reductions[reduction]
        value = self.kernel.name(made.value)
        own = value if REDUCERS[made.reducer].order else f"{made.kind}({value})"
        return of_two(made, total, own)

    def _start(self) -> None:
        """What totals begin with."""
        named = [(k, identity(self.plan.reductions[k])) for k in self.phase.reductions]
        if self.rows:
            for k, start in named:
                self.text.add(f"t{k} = {start}")
        elif named:
            self.text.open(f"for i{self.plan.inner} in range(low, high):")
            for k, start in named:
                self.text.add(f"store({self._total(k)}, {start})")
            self.text.close()

    def _inner(self) -> None:
        """The inner loop; where it reaches a border, first the part inside, then both ends, which
        have one text, as compiling it takes long."""
        inner, text = self.order[-1], self.text
        low, high = ("low", "high") if not self.rows else self._range(inner)
        if self.rows:
            self._start_parts()
        bounded = list(dict.fromkeys(self._bounds()))
        if bounded:
            text.add(f"start, stop = {low}, {high}", *bounded)
            text.add(f"start = min(start, {high})", "stop = max(stop, start)")
            self._points(f"for i{inner} in range(start, stop):", checked=False)
            text.open("for side in range(2):")
            text.add(f"begin = stop if side else {low}", f"end = {high} if side else start")
            low, high = "begin", "end"
        self._points(f"for i{inner} in range({low}, {high}):", checked=True)
        text.close(bool(bounded))
        if self.rows:
            self._end_parts()

    def _points(self, loop: str, *, checked: bool) -> None:
        """The inner loop; with functions in their form for operands that are near, and once more
        where one was not."""
        self.near = self._has_near()
        if self.near:
            totals = [self._part(k) for k in self.phase.reductions]
            self.text.add("far = int32(0)", *(f"before_{total} = {total}" for total in totals))
            self._run(loop, checked=checked)
            self.near = False
            self.text.open("if far != int32(0):")
            self.text.add(*(f"{total} = before_{total}" for total in totals))
        self._run(loop, checked=checked)
        self.text.close(bool(self._has_near()))

    def _run(self, loop: str, *, checked: bool) -> None:
        known = self.kernel.names
        inside, letter = filter(self._at, self.needed), LETTERS[self.runs]
        self.runs += 1
        self.kernel.names = {**known, **{place: f"{letter}{place}" for place in inside}}
        self.text.open(loop)
        self._values(len(self.order), checked=checked)
        self._stores()
        self.text.close()
        self.kernel.names = known

    def _has_near(self) -> bool:
        """Whether a function at a point has a form for operands that are near, and the loop may run
        twice: totals in memory would count all twice, and what a result is written over is gone."""
        over = any(kept.output in self.phase.outputs for kept in self.plan.kept)
        if over or (self.phase.reductions and not self.rows):
            return False
        inside = (self.plan.values[p] for p in self.needed if p not in self.again and self._at(p))
        return any(map(self._is_near, inside))

    def _is_near(self, value: Value) -> TypeGuard[Operation]:
        return isinstance(value, Operation) and value.word in NEAR and value.kind in FLOATS

    def _at(self, place: int) -> bool:
        """Whether the value is computed in the inner loop."""
        return self.plan.depth(self.plan.masks[place], self.phase) == len(self.order)

    def _part(self, reduction: int) -> str:
        """The name of a total in the inner loop."""
        order = REDUCERS[self.plan.reductions[reduction].reducer].order
        return f"key{reduction}" if order else f"part{reduction}"

    def _start_parts(self) -> None:
        for k in self.phase.reductions:
            made = self.plan.reductions[k]
            if REDUCERS[made.reducer].order:
                self.text.add(f"key{k} = least_key_{made.kind}")
            else:
                self.text.add(f"part{k} = {identity(self.plan.reductions[k])}")

    def _end_parts(self) -> None:
        for k in self.phase.reductions:
            made = self.plan.reductions[k]
            key = f"of_{made.reducer}_key_{made.kind}(settled(key{k}))"
            found = key if REDUCERS[made.reducer].order else f"part{k}"
            self.text.add(f"t{k} = {of_two(made, f't{k}', found)}")

    def _stores(self) -> None:
        """What is done with the values of a point."""
        name = self.kernel.name
        for k in self.phase.reductions:
            made = self.plan.reductions[k]
            value, ordered = name(made.value), bool(REDUCERS[made.reducer].order)
            if self.rows and ordered:
                self.text.add(f"key{k} = max(key{k}, {made.reducer}_key_{made.kind}({value}))")
            elif self.rows:
                word = IN_ANY_ORDER[made.reducer]
                self.text.add(f"part{k} = {word}(part{k}, {made.kind}({value}))")
            else:
                at = self._total(k)
                self.text.add(f"store({at}, {self._combined(k, f'load({at})')})")
        for place in self.phase.kept:
            self.text.add(f"store({self._place(place)}, {name(place)})")
        self._write_outputs()

    def _write_outputs(self) -> None:
        for k in self.phase.outputs:
            out = self.plan.outputs[k]
            value = f"{STORED.get(out.dtype, out.dtype)}({self.kernel.name(out.value)})"
            self.text.add(
                f"store{half(out.dtype)}(o{k}, {self._row(out.offset, f'o{k}')}, {value})"
            )

    def _place(self, place: int) -> str:
        """Where a kept value lies."""
        kept = self.plan.stored(place)
        assert kept is not None
        if kept.output is not None:
            out = f"o{kept.output}"
            return f"{out}, {self._row(self.plan.outputs[kept.output].offset, out)}"
        index = self._row(kept.index, f"k{place}") if self.rows else f"i{self.plan.inner} - low"
        return f"k{place}, {index}"

    def _bounds(self) -> Iterator[str]:
        """Lines that narrow `start` and `stop` to where no index misses that follows the loop."""
        inner = self.order[-1]
        for row in self._held():
            step = row.coefficient(inner)
            bound = self._row(affine.add(row, affine.iterator(inner), -step), of_row(row))
            if step > 0:
                yield f"start = max(start, -(({bound}) // {self._whole(step, of_row(row))}))"
            else:
                yield f"stop = min(stop, ({bound}) // {self._whole(-step, of_row(row))} + 1)"

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

    def _splits(self, row: Row) -> bool:
        """Whether the inner loop has one part where this row is not negative."""
        inner = self.order[-1]
        within = any(inner in affine.iterators(floor) for floor, _, _ in row.floors)
        return bool(row.coefficient(inner)) and not within

    def _depth(self, row: Row) -> int:
        return self.plan.depth(affine.mask(row), self.phase)

    def _values(self, depth: int, *, checked: bool = True) -> None:
        """What is computed at this depth of loops; `checked`: also indices that follow the inner
        loop are."""
        done = self.kernel.known if depth == 0 else set[object]()
        for place in self.needed:
            value = self.plan.values[place]
            if isinstance(value, Constant):
                continue
            own = self.plan.depth(self.plan.masks[place], self.phase)
            if isinstance(value, Load) and place not in self.again:
                self._indices(value, depth, checked, done)
            if own == depth and not (own == 0 and place in self.kernel.known):
                self._value(place, value, checked)
                if own == 0:
                    self.kernel.known.add(place)

    def _value(self, place: int, value: Value, checked: bool) -> None:
        name = self.kernel.name(place)
        if place in self.again:
            self.text.add(f"{name} = load({self._place(place)})")
        elif isinstance(value, Load):
            self._read(name, value, checked)
        else:
            self.text.add(f"{name} = {self._expression(value, checked)}")
            if self.near and self._at(place) and self._is_near(value):
                of = ", ".join(self.kernel.name(arg) for arg in operands_of(value))
                self.text.add(f"far = int32(far | far_{value.word}_near_{value.kind}({of}))")

    def _indices(self, load: Load, depth: int, checked: bool, done: set[object]) -> None:
        """The checked indices of a read that are known at this depth."""
        for one in load.checked:
            name = self._index_name(one)
            if self._depth(one.row) != depth or self._inside(one.row, checked) or name in done:
                continue
            last = self._whole(one.extent - 1, of_row(one.row))
            self.text.add(
                f"{name}w = {self._row(one.row)}",
                f"{name} = max(0, min({name}w, {last}))",
                f"{name}b = {name} == {name}w",
            )
            done.add(name)

    def _inside(self, row: Row, checked: bool) -> bool:
        """Whether the row cannot miss in this part of the inner loop."""
        return not checked and bool(self.order) and self._splits(row)

    def _index_name(self, one: Checked) -> str:
        loads = (value for value in self.plan.values if isinstance(value, Load))
        known = [(c.row, c.extent) for load in loads for c in load.checked]
        return f"n{known.index((one.row, one.extent))}"

    def _read(self, name: str, load: Load, checked: bool) -> None:
        if load.empty:
            self.text.add(f"{name} = {self._number(load.fill, load.kind)}")
            return
        of = f"p{load.operand}"
        where, misses = [self._row(load.offset, of)], []
        for one in load.checked:
            if self._inside(one.row, checked):
                where.append(f"({self._row(one.row)}) * {self._whole(one.stride, of)}")
                continue
            index = self._index_name(one)
            where.append(f"{index} * {self._whole(one.stride, of)}")
            misses.append(f"{index}b")
        for part in load.picked:
            value, inside = self.kernel.name(part.value), self.kernel.name(part.inside)
            lo, stride = (self._whole(number, of) for number in (part.lo, part.stride))
            where.append(f"(int64({value}) if {inside} else {lo}) * {stride}")
        place = " + ".join(part for part in where if part != "0") or "0"
        read = f"{load.kind}(load{half(load.dtype)}({of}, {place}))"
        if misses:
            fill = self._number(load.fill, load.kind)
            read = f"chosen({' & '.join(misses)}, {read}, {fill})"
        self.text.add(f"{name} = {read}")

    def _expression(self, value: Value, checked: bool) -> str:
        of = [self.kernel.name(arg) for arg in operands_of(value)]
        match value:
            case Position(row, kind):
                return f"{kind}({self.kernel.small(row)})"
            case Total(k, kind):
                return f"{kind}(t{k})" if self.rows else f"{kind}(load({self._total(k)}))"
            case Operation("+" | "*" | "/" as word, _, kind):
                found = f" {word} ".join(of)
                return f"{kind}({found})" if kind == NARROW else found  # numba's is int64
            case Windowed(number, rows):
                return f"load({self.kernel.place(number, rows)})"
            case Within(arg, lo, hi):
                return self.kernel.within(of[0], self.plan.values[arg].kind, lo, hi)
            case Operation("choose", _):
                return f"chosen({', '.join(of)})"
            case Operation(word, _, kind):
                near = "_near" if self.near and self._is_near(value) else ""
                own = word if kind in (TRUTH, word) else f"{word}{near}_{kind}"
                found = f"{own}({', '.join(of)})"
                return f"{kind}({found})" if kind == NARROW and own != word else found
            case Choice(conditions, _, _, border):
                held = [c for c in conditions if not (border and self._inside(c.row, checked))]
                text = " & ".join(f"({self.kernel.condition(c)})" for c in held)
                return f"chosen({text}, {of[0]}, {of[1]})" if held else of[0]
        raise TypeError(f"{type(value).__name__} is no expression")
