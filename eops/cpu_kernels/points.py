"""What a pass computes at a point of its loops, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeGuard

from einderive.eops.cpu_kernels.writing import (
    IN_ANY_ORDER,
    STORED,
    Writer,
    half,
    of_row,
    of_two,
)
from einderive.eops.dtypes import FLOATS, HALVES
from einderive.eops.loops.drafts import values
from einderive.eops.loops.drafts.kinds import TRUTH
from einderive.eops.loops.drafts.narrow import NARROW
from einderive.eops.loops.plan import Phase
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row

NEAR: Final = frozenset({"sin", "cos", "tan", "fmod", "remainder", "floor_divide"})
"""Functions with a form for operands that are near."""
SHORT: Final = "float32"
"""The type in which some terms of a sum are added, before the rest is in float64."""
SEVERAL: Final = 2
"""With so many sums of computed terms beside it, a pass has no time to spare for a sum in float64:
four moments of 2,000 rows take a fifth less without."""


class Points:
    """The text of what one pass computes, without its loops."""

    before: str = ""
    """When a step of the inner loop was run before, and adds nothing."""

    def __init__(self, kernel: Writer, number: int, phase: Phase) -> None:
        self.kernel, self.plan, self.phase = kernel, kernel.plan, phase
        self._row, self._bound = kernel.row, kernel.bound
        self._whole, self._number = kernel.numbers.whole, kernel.numbers.value
        self.text = kernel.text
        self.order = self.plan.order(phase)
        self.number, self.needed = number, self.plan.needed[number]
        self.chosen: Mapping[int, int] = {}
        self.again = self.plan.read_again(number)
        self.rows = self.plan.inner is None
        self.near = False
        self.runs = 0

    def _total(self, reduction: int) -> str:
        """Where the total of a step of the block lies."""
        return f"t{reduction}, {self._here()}"

    def _here(self) -> str:
        """The step of the block."""
        assert self.plan.inner is not None
        return f"{self._row(affine.iterator(self.plan.inner))} - low"

    def _combined(self, reduction: int, total: str) -> str:
        made = self.plan.reductions[reduction]
        value = self.kernel.name(made.value)
        own = value if REDUCERS[made.reducer].order else f"{made.kind}({value})"
        return of_two(made, total, own)

    def _is_near(self, value: values.Value) -> TypeGuard[values.Operation]:
        return isinstance(value, values.Operation) and value.word in NEAR and value.kind in FLOATS

    def _at(self, place: int) -> bool:
        """Whether the value is computed in the inner loop."""
        return self.plan.depth(self.plan.masks[place], self.phase) == len(self.order)

    def _whole_part(self, reduction: int) -> str:
        """The name of a total outside of the inner loop."""
        order = REDUCERS[self.plan.reductions[reduction].reducer].order
        return f"key{reduction}" if order else f"part{reduction}"

    def _part(self, reduction: int) -> str:
        """The name of a total in the inner loop."""
        short = self._is_short(reduction)
        return f"short{reduction}" if short else self._whole_part(reduction)

    def _is_short(self, reduction: int) -> bool:
        """Whether some of the terms are added in float32, before the rest: terms that are computed,
        where nothing is shifted by the total: its digits are lost where it is taken away again, but
        a result of a half type has fewer digits.  Numbers of float32 that are only read cost little
        in float64, unless there are `SEVERAL` sums of computed terms, and those of half types more.
        Where places are picked, the terms are added one after the other, which loses more digits
        than sums of several side by side."""
        if self._is_read(reduction):
            others = sum(not self._is_read(k) for k in filter(self._adds, self.phase.reductions))
            if others < SEVERAL:
                return False
        if not self._adds(reduction):
            return False
        if reduction in self.plan.shifting and not self._gives_halves:
            return False
        needed = (self.plan.values[place] for place in self.plan.needed[self.number])
        return not any(isinstance(each, values.Load) and each.picked for each in needed)

    def _adds(self, reduction: int) -> bool:
        """Whether the reduction adds numbers of float32."""
        made = self.plan.reductions[reduction]
        return made.reducer == "sum" and self.plan.values[made.value].kind == SHORT

    def _is_read(self, reduction: int) -> bool:
        """Whether the reduction's terms are read, and of no half type."""
        term = self.plan.values[self.plan.reductions[reduction].value]
        return isinstance(term, values.Load) and term.dtype not in HALVES

    @property
    def _gives_halves(self) -> bool:
        """Whether all results have half types."""
        return all(out.dtype in HALVES for out in self.plan.outputs)

    def _stores(self) -> None:
        """What is done with the values of a point."""
        name = self.kernel.name
        for k in self.phase.reductions:
            made = self.plan.reductions[k]
            value, ordered = name(made.value), bool(REDUCERS[made.reducer].order)
            if self.rows and ordered:
                self.text.add(f"key{k} = max(key{k}, {made.reducer}_key_{made.kind}({value}))")
            elif self.rows:
                word, total = IN_ANY_ORDER[made.reducer], self._part(k)
                if self.before:
                    kind = self.plan.values[made.value].kind
                    nothing = self._number(REDUCERS[made.reducer].identity, kind)
                    value = f"chosen({self.before}, {nothing}, {value})"
                self.text.add(f"{total} = {word}({total}, {value})")  # in the type of the total
            else:
                at = self._total(k)
                self.text.add(f"store({at}, {self._combined(k, f'load({at})')})")
        self._write()

    def _write(self) -> None:
        """What later passes and the caller read."""
        for place in self.phase.kept:
            self.text.add(f"store({self._place(place)}, {self.kernel.name(place)})")
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
        index = self._row(kept.index, f"k{place}") if self.rows else self._here()
        if self.plan.row is not None and kept.size == 1:
            index = f"i{self.plan.row} - row"
        elif self.plan.row is not None:
            index = f"(i{self.plan.row} - row) * {self._whole(kept.size, f'k{place}')} + {index}"
        return f"k{place}, {index}"

    def _splits(self, row: Row) -> bool:
        """Whether the inner loop has one part where this row is not negative."""
        inner, row = self.order[-1], self.kernel.without(row)
        within = any(inner in affine.iterators(floor) for floor, _, _ in row.floors)
        return bool(row.coefficient(inner)) and not within

    def _values(self, depth: int, *, checked: bool = True) -> None:
        """What is computed at this depth of loops; `checked`: also indices that follow the inner
        loop are."""
        done = self.kernel.known if depth == 0 else set[object]()
        for place in self.needed:
            value = self.plan.values[place]
            if isinstance(value, values.Constant):
                continue
            own = self.plan.depth(self.plan.masks[place], self.phase)
            if isinstance(value, values.Load):
                self._indices(value, depth, checked, done)
            if own == depth and place not in self.kernel.known:
                self._value(place, value, checked)
                if own == 0:
                    self.kernel.known.add(place)

    def _value(self, place: int, value: values.Value, checked: bool) -> None:
        name = self.kernel.name(place)
        if place in self.again:
            self.text.add(f"{name} = load({self._place(place)})")
        elif place in self.chosen:
            self.text.add(f"{name} = {self.kernel.name(self.chosen[place])}")
        elif isinstance(value, values.Load):
            self._read(name, place, value, checked)
        else:
            self.text.add(f"{name} = {self._expression(value, checked)}")
            if self.near and self._is_near(value):
                of = ", ".join(self.kernel.name(arg) for arg in values.operands_of(value))
                self.text.add(f"far = int32(far | far_{value.word}_near_{value.kind}({of}))")

    def _indices(self, load: values.Load, depth: int, checked: bool, done: set[object]) -> None:
        """The checked indices of a read that are known at this depth."""
        for one in load.checked:
            name = self._index_name(one)
            own = self.plan.depth(affine.mask(one.row), self.phase)
            if own != depth or self._inside(one.row, checked) or name in done:
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
        return not checked and self._splits(row)

    def _index_name(self, one: values.Checked) -> str:
        loads = (value for value in self.plan.values if isinstance(value, values.Load))
        known = [(c.row, c.extent) for load in loads for c in load.checked]
        return f"n{known.index((one.row, one.extent))}"

    def _read(self, name: str, place: int, load: values.Load, checked: bool) -> None:
        if place in self.kernel.turned:
            self.text.add(f"{name} = load(q{place}, {self._in_tile()})")
            return
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
        index = " + ".join(part for part in where if part != "0") or "0"
        read = f"{load.kind}(load{half(load.dtype)}({of}, {index}))"
        if misses:
            fill = self._number(load.fill, load.kind)
            read = f"chosen({' & '.join(misses)}, {read}, {fill})"
        self.text.add(f"{name} = {read}")

    def _in_tile(self) -> str:
        """The place of this point in a tile."""
        assert self.plan.turned is not None
        row, width = self._row(affine.iterator(self.plan.turned)), self.plan.sizes.turned_block
        return f"({row} - tile) * {width} + {self._here()}"

    def _expression(self, value: values.Value, checked: bool) -> str:
        of = [self.kernel.name(arg) for arg in values.operands_of(value)]
        match value:
            case values.Position(row, kind):
                return f"{kind}({self.kernel.small(row)})"
            case values.Total(k, kind):
                if self.plan.row is not None:
                    return f"{kind}(load(s{k}, i{self.plan.row} - row))"
                return f"{kind}(t{k})" if self.rows else f"{kind}(load({self._total(k)}))"
            case values.Operation("+" | "*" | "/" as word, _, kind):
                found = f" {word} ".join(of)
                return f"{kind}({found})" if kind == NARROW else found  # numba's is int64
            case values.Windowed(number, rows):
                return f"load({self.kernel.place(number, rows)})"
            case values.Within(arg, lo, hi):
                return self.kernel.within(of[0], self.plan.values[arg].kind, lo, hi)
            case values.Operation("choose", _):
                return f"chosen({', '.join(of)})"
            case values.Operation(word, _, kind):
                near = "_near" if self.near and self._is_near(value) else ""
                own = word if kind in (TRUTH, word) else f"{word}{near}_{kind}"
                found = f"{own}({', '.join(of)})"
                return f"{kind}({found})" if kind == NARROW and own != word else found
            case values.Choice(conditions, _, _, border):
                held = [c for c in conditions if not (border and self._inside(c.row, checked))]
                text = " & ".join(f"({self.kernel.condition(c)})" for c in held)
                return f"chosen({text}, {of[0]}, {of[1]})" if held else of[0]
        raise TypeError(f"{type(value).__name__} is no expression")
