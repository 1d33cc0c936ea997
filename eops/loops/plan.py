"""The plan of a kernel: its loops, what each pass computes, what it keeps, and what that costs.

    rows      for all shared loops:   pass 1: for own loops: t0 = max(t0, f)     t0 a number
                                      pass 2: for own loops: t1 += g(t0)
    columns   for blocks of a shared loop:   pass 1: for own loops: for the block: t0[x] += f
    batches   for batches of rows:   pass 1: for the batch, own loops: t0[row] += f
    together  all threads:   pass 1: for a part of the own loops: t0 += f;   t0 = the sum of theirs

In rows the inner loop is the last own loop of a pass.  In columns it is a shared loop, of which
`block` steps are one piece of work; a kernel without own loops is columns as well.  In batches each
pass is done for some rows before the next one begins (`eops.loops.batches`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

from einderive.eops.loops.drafts.bodies import Output, Reduction
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.values import (
    DIVIDED,
    Constant,
    Load,
    Operation,
    Total,
    Value,
    Windowed,
    Within,
    needed_for,
    operands_of,
    rows_of,
)
from einderive.eops.loops.sizes import SIZES, Sizes
from einderive.ta.ir.affine import Range, Row


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that one pass stores in memory of the kernel's own, and later passes read.  It is
    element `index` of `size`; in columns the index is the step of the block.  With `output`, the
    value lies where the element of that output will be, which the last of these passes writes."""

    value: int
    index: Row
    size: int
    output: int | None = None


class Side(NamedTuple):
    """The indices of a window in one dimension: `lo` to `hi - 1`; with `inner`, this many more than
    the first step of the block, and up to this many more than its end."""

    lo: int
    hi: int
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """What a kernel keeps of a stage: the element at `rows` has the value.

    - `sides` are the dimensions that lie in the window; None for one with the same index in a
      whole piece of work, and for `moving`, the dimension along which the window moves.
    - Element `lead` further along than the plan's loop `along` is computed at each of its steps,
      those from `first` on at the start of a piece; `depth` of them are there at once.  `step` is
      the iterator of that dimension, None if no dimension moves."""

    value: int
    kind: str
    rows: tuple[Row, ...]
    sides: tuple[Side | None, ...]
    moving: int | None = None
    step: int | None = None
    lead: int = 0
    first: int = 0
    depth: int = 1

    def extents(self, block: int) -> tuple[int, ...]:
        """Of the dimensions that lie in it, without the one along which it moves."""
        sides = (side for side in self.sides if side is not None)
        return tuple(side.hi - side.lo + (block if side.inner else 0) for side in sides)

    def size(self, block: int) -> int:
        return self.depth * prod(self.extents(block))

    @property
    def beside(self) -> Side | None:
        """The dimension that lies in blocks."""
        return next((side for side in self.sides if side is not None and side.inner), None)

    @property
    def inner(self) -> int | None:
        """The iterator of that dimension."""
        return None if self.beside is None else self.rows[self.sides.index(self.beside)].lone


@dataclass(frozen=True, slots=True)
class Phase:
    """One pass: `loops` are its own loops, the outermost first.  Inside them are computed the
    values of the reductions and outputs, and those that are kept for later passes.  `jam`: this
    many steps of the last own loop are done in one run of the inner loop, in columns.  With
    `window`, the pass fills that window, and its inner loop is the last of `loops`."""

    loops: tuple[int, ...]
    reductions: tuple[int, ...]
    outputs: tuple[int, ...]
    kept: tuple[int, ...] = ()
    jam: int = 1
    window: int | None = None


@dataclass(frozen=True)
class Plan:
    """What one kernel does.

    - `domain` are the ranges of its iterators, the first `shared` ones shared; of merged ones the
      first is (0, 1) and the second the whole.
    - `masks` says which iterators each value depends on.
    - `parallel` are the shared iterators of which every combination is work of its own.
    - `inner` is the shared iterator of the inner loop in columns, None in rows.
    - `turned` is one of `parallel` of which `sizes.turned` steps together are one piece of work.
    - `batch`: in rows, so many steps of the last parallel iterator are one piece of work, in which
      every pass goes over all of them.
    - `together`: the pieces of work follow one another, and all threads do a part of the first own
      loop of each pass; they wait for each other where a total is made of those of the threads, and
      after each piece.
    - `abreast`: so many steps of the own loop of a pass are one run of the inner loop, whose
      elements they continue in memory; each has totals of its own until the end of the pass.
    - `windows` move with `along`, one of `parallel`, of which `stretch` steps, one after the other,
      are one piece of work; the passes that fill windows come first."""

    group: Group
    domain: tuple[Range, ...]
    shared: int
    values: tuple[Value, ...]
    masks: tuple[int, ...]
    reductions: tuple[Reduction, ...]
    outputs: tuple[Output, ...]
    phases: tuple[Phase, ...]
    parallel: tuple[int, ...]
    inner: int | None
    block: int = 1
    turned: int | None = None
    batch: int = 1
    kept: tuple[Kept, ...] = ()
    together: bool = False
    abreast: int = 1
    sizes: Sizes = SIZES
    windows: tuple[Window, ...] = ()
    along: int | None = None
    stretch: int = 1

    @property
    def blocks(self) -> int:
        return 1 if self.inner is None else -(-self.domain[self.inner].extent // self.block)

    @property
    def pieces(self) -> int:
        """The number of pieces of work, each done by one thread."""
        return prod(map(self.parts, self.parallel)) * self.blocks

    @property
    def exchanged(self) -> int:
        """The number of totals that each thread tells the others."""
        return len(self.reductions) * self.block if self.together else 0

    def parts(self, i: int) -> int:
        """The number of parts into which a parallel iterator is cut."""
        return -(-self.domain[i].extent // self.steps_of(i))

    def steps_of(self, i: int) -> int:
        """The steps of a parallel iterator that are one piece of work."""
        if i == self.row:
            return self.batch
        return self.stretch if i == self.along else self.sizes.turned if i == self.turned else 1

    @property
    def row(self) -> int | None:
        """The iterator of the rows of a batch, if there are batches."""
        return self.parallel[-1] if self.batch > 1 else None

    @property
    def ahead(self) -> int:
        """The steps of `along` before the first result of a piece of work."""
        return max((window.lead - window.first for window in self.windows), default=0)

    def order(self, phase: Phase) -> tuple[int, ...]:
        """The loops of a pass, the inner one last."""
        if self.inner is None or phase.window is not None:
            return phase.loops
        return (*phase.loops, self.inner)

    def depth(self, mask: int, phase: Phase) -> int:
        """The number of loops of the pass that enclose a value which depends on these iterators."""
        return max((d for d, i in enumerate(self.order(phase), 1) if mask >> i & 1), default=0)

    def stored(self, value: int) -> Kept | None:
        return next((kept for kept in self.kept if kept.value == value), None)

    @cached_property
    def needed(self) -> tuple[tuple[int, ...], ...]:
        """For each pass the values that it computes, or reads if they are kept; operands come
        first."""
        return tuple(self.needed_with(number, {}) for number in range(len(self.phases)))

    def needed_with(self, number: int, chosen: Mapping[int, int]) -> tuple[int, ...]:
        """Those of one pass in which these choices are made."""
        phase = self.phases[number]
        ends = [self.reductions[k].value for k in phase.reductions]
        ends += [self.outputs[k].value for k in phase.outputs]
        ends += phase.kept
        ends += [] if phase.window is None else [self.windows[phase.window].value]
        return needed_for(self.values, ends, self.read_again(number), chosen)

    @cached_property
    def shifting(self) -> frozenset[int]:
        """The reductions of which the total, or a multiple of it, is added to what is no
        constant."""
        linear, found = list[frozenset[int]](), set[int]()
        for value in self.values:
            args = operands_of(value)
            others = [arg for arg in args if not isinstance(self.values[arg], Constant)]
            totals = frozenset[int]().union(*(linear[arg] for arg in args))
            word = value.word if isinstance(value, Operation) else ""
            if isinstance(value, Total):
                totals |= {value.reduction}
            elif word == "+":
                found |= totals if len(others) > 1 else frozenset()
            elif not (len(others) == 1 and word in ("*", value.kind)):
                totals = frozenset()
            linear.append(totals)
        return frozenset(found)

    def read_again(self, number: int) -> frozenset[int]:
        """The values that an earlier pass has kept for this one."""
        return frozenset(value for phase in self.phases[:number] for value in phase.kept)

    def points(self, phase: Phase, depth: int | None = None) -> int:
        """The number of times that the body of a pass, or of its first loops, runs in the whole
        kernel."""
        order = self.order(phase)
        inside = order if depth is None else order[:depth]
        if phase.window is not None:
            return self._filled(self.windows[phase.window], inside)
        again = self.inner is not None and depth is not None and depth < len(order)
        found = prod(self.domain[i].extent for i in (*self.parallel, *inside))
        return found * self.blocks if again else found

    def _filled(self, window: Window, inside: Sequence[int]) -> int:
        """The number of times that the body of these loops runs in a pass that fills a window."""
        found = prod(self.domain[i].extent for i in self.parallel if i != self.along)
        if self.along is not None:
            again = self.parts(self.along) * (window.lead - window.first)
            found *= self.domain[self.along].extent + again
        found *= prod(self.domain[i].extent for i in inside if i != window.inner)
        side = window.beside
        if self.inner is None or side is None or window.inner not in inside:
            return found * self.blocks
        return found * (self.domain[self.inner].extent + self.blocks * (side.hi - side.lo))

    def __str__(self) -> str:
        return "\n".join(_pseudo_code(self))


def row_as_text(row: Row, number: Callable[[int], str] = str) -> str:
    """The row as integer arithmetic over i0, i1, ...; `number` writes its numbers."""
    parts = [f"{number(a)} * i{i}" if a != 1 else f"i{i}" for i, a in row.terms]
    parts += [
        f"{number(b)} * (({row_as_text(inner, number)}) // {number(n)})"
        for inner, n, b in row.floors
    ]
    if row.const or not parts:
        parts.append(number(row.const))
    return " + ".join(parts).replace("+ -", "- ")


def _pseudo_code(plan: Plan) -> Iterator[str]:
    ranges = [f"i{i} in {plan.domain[i].lo}:{plan.domain[i].hi}" for i in plan.parallel]
    if plan.inner is not None:
        side = plan.domain[plan.inner]
        ranges.append(f"i{plan.inner} in {side.lo}:{side.hi} by {plan.block}")
    if plan.together:
        if ranges:
            yield f"for {', '.join(ranges)}"
        ranges = ["a part of each first loop"]
    if plan.row is not None:
        ranges[-1] += f" by {plan.batch}, pass by pass"
    if plan.along is not None:
        ranges[plan.parallel.index(plan.along)] += f" by {plan.stretch}, in order"
    yield f"in parallel for {', '.join(ranges) or 'one piece'}"
    known: set[int] = set()
    for number, phase in enumerate(plan.phases):
        loops = [f"i{i} in {plan.domain[i].lo}:{plan.domain[i].hi}" for i in phase.loops]
        if phase.window is not None:
            loops = _filling(plan, plan.windows[phase.window], phase)
        elif plan.inner is not None:
            loops.append(f"i{plan.inner} in the block")
        if phase.loops and plan.abreast > 1:
            loops[-1] += f", {plan.abreast} times abreast"
        jam = f", {phase.jam} steps at once" if phase.jam > 1 else ""
        yield f"    for {', '.join(loops)}{jam}" if loops else "    once"
        again = plan.read_again(number)
        for place in plan.needed[number]:
            value = plan.values[place]
            if place in again:
                yield f"        v{place} = as kept"
            elif place not in known and not isinstance(value, Constant):
                yield f"        v{place} = {value_text(plan.values, value)}"
            if plan.depth(plan.masks[place], phase) == 0:
                known.add(place)
        if phase.window is not None:
            window = plan.windows[phase.window]
            where = ", ".join(map(row_as_text, window.rows))
            name = _name(plan.values, window.value)
            yield f"        w{phase.window}[{where}] = {name}, {window.size(plan.block)} of them"
            known -= {*plan.needed[number]}
        for value_kept in phase.kept:
            yield f"        keep v{value_kept}"
        for k in phase.reductions:
            made = plan.reductions[k]
            yield f"        t{k} = {made.reducer} of {_name(plan.values, made.value)}"
        for k in phase.outputs:
            out = plan.outputs[k]
            yield f"        out{k}[{row_as_text(out.offset)}] = {_name(plan.values, out.value)}"


def _filling(plan: Plan, window: Window, phase: Phase) -> list[str]:
    found = []
    if window.step is not None and window.step != plan.along:
        lo, hi = plan.domain[window.step]
        found.append(f"i{window.step} = i{plan.along} + {window.lead} in {lo}:{hi}")
    for i in phase.loops:
        sides = (s for s, row in zip(window.sides, window.rows, strict=True) if row.lone == i)
        side = next(sides, None)
        lo, hi = plan.domain[i]
        if side is not None and side.inner:
            found.append(f"i{i} in the block, {side.lo}:{side.hi}, in {lo}:{hi}")
        else:
            found.append(f"i{i} in {lo}:{hi}")
    return found


def _name(values: Sequence[Value], place: int) -> str:
    value = values[place]
    return str(value.value) if isinstance(value, Constant) else f"v{place}"


def value_text(values: Sequence[Value], value: Value) -> str:
    """One of the values as pseudo-code, in which the others have names."""
    names = [_name(values, place) for place in operands_of(value)]
    rows: Sequence[Row] = rows_of(value)
    match value:
        case Load(operand, offset, checked, fill, picked=picked):
            where = [row_as_text(offset)] + [f"{c.stride}*[{row_as_text(c.row)}]" for c in checked]
            where += [f"{one.stride}*{_name(values, one.value)}" for one in picked]
            return f"p{operand}[{' + '.join(where)}]" + (f" else {fill}" if checked else "")
        case Total(k):
            return f"t{k}"
        case Windowed(k):
            return f"w{k}[{', '.join(map(row_as_text, rows))}]"
        case Within(_, lo, hi):
            return f"{names[0]} in {lo}:{hi}"
    if rows:
        text = ", ".join(row_as_text(row) for row in rows)
        return f"({text})" if not names else f"{names[0]} where {text} else {names[1]}"
    word = getattr(value, "word", "")
    if word == DIVIDED:
        scale = values[operands_of(value)[-1]]
        return f"{names[0]} / {_name(values, operands_of(scale)[0])}"
    return f" {word} ".join(names) if word in "+*/" else f"{word}({', '.join(names)})"
