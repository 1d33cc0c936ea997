"""The plan of a kernel: its loops, what each pass computes, what it keeps, and what that costs.

    rows      for all shared loops:   pass 1: for own loops: t0 = max(t0, f)     t0 a number
                                      pass 2: for own loops: t1 += g(t0)
    columns   for blocks of a shared loop:   pass 1: for own loops: for the block: t0[x] += f

    together  pass 1: for a part of the own loops: t0 += f;    t0 = the sum of all threads' t0

In rows the inner loop is the last own loop of a pass.  In columns it is a shared loop, of which
`block` steps are one piece of work; a kernel without own loops is columns as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final, NamedTuple

from einderive.eops.loops.bodies import Output, Reduction
from einderive.eops.loops.group import Group
from einderive.eops.loops.values import Constant, Load, Total, Value, Within, operands_of, rows_of
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row


class Sizes(NamedTuple):
    """Where loops are cut.

    - `block`: a long inner loop is cut into pieces of work of so many steps.
    - `tile`, `least_tile`: so many columns at most, and at least, are reduced together, so that
      their totals stay in the nearest cache; `pieces` of work there should be, at least.
    - `turned`: so many steps of a loop along which a read walks through memory, while the inner
      loop does not, are one piece of work, so that what a cache line holds is used at once; the
      inner loop is then cut into parts of `turned_block` steps.
    - `jam`: so many rows at once where columns are reduced.
    - `kept`: so many elements at most that a pass keeps for later ones lie on the stack; `worth`:
      so many operations at least a value takes that is kept.
    - `short`: an inner loop with fewer steps is not worth its start."""

    block: int = 4096
    tile: int = 1024
    least_tile: int = 64
    pieces: int = 4
    turned: int = 16
    turned_block: int = 128
    jam: int = 4
    short: int = 8
    kept: int = 1 << 14
    worth: float = 16.0


SIZES: Final = Sizes()


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that one pass stores in memory of the kernel's own, and later passes read.  It is
    element `index` of `size`; in columns the index is the step of the block.  With `output`, the
    value lies where the element of that output will be, which the last of these passes writes."""

    value: int
    index: Row
    size: int
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Phase:
    """One pass: `loops` are its own loops, the outermost first.  Inside them are computed the
    values of the reductions and outputs, and those that are kept for later passes.  `jam`: so many
    steps of the last own loop are done in one run of the inner loop, in columns."""

    loops: tuple[int, ...]
    reductions: tuple[int, ...]
    outputs: tuple[int, ...]
    kept: tuple[int, ...] = ()
    jam: int = 1


@dataclass(frozen=True)
class Plan:
    """What one kernel does.

    - `domain` are the ranges of its iterators, the first `shared` ones shared; of merged ones the
      first is (0, 1) and the second the whole.
    - `masks` says which iterators each value depends on.
    - `parallel` are the shared iterators of which every combination is work of its own.
    - `inner` is the shared iterator of the inner loop in columns, None in rows.
    - `turned` is one of `parallel` of which `sizes.turned` steps together are one piece of work.
    - `together`: there are no shared loops, and all threads do a part of the first own loop of each
      pass; they wait for each other where a total is made of those of the threads."""

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
    kept: tuple[Kept, ...] = ()
    together: bool = False
    sizes: Sizes = SIZES

    @property
    def blocks(self) -> int:
        return 1 if self.inner is None else -(-self.domain[self.inner].extent // self.block)

    @property
    def pieces(self) -> int:
        """The number of pieces of work, each done by one thread."""
        return prod(map(self.parts, self.parallel)) * self.blocks

    def parts(self, i: int) -> int:
        """The number of parts into which a parallel iterator is cut."""
        extent = self.domain[i].extent
        return -(-extent // self.sizes.turned) if i == self.turned else extent

    @cached_property
    def outside(self) -> int:
        """The iterators that are known at the start of a piece of work, as a bit set; `turned` is
        among them."""
        inner = 0 if self.inner is None else 1 << self.inner
        looped = sum(1 << i for phase in self.phases for i in phase.loops)
        return ~(inner | looped)

    def order(self, phase: Phase) -> tuple[int, ...]:
        """The loops of a pass, the inner one last."""
        return phase.loops if self.inner is None else (*phase.loops, self.inner)

    def depth(self, mask: int, phase: Phase) -> int:
        """The number of loops of the pass that enclose a value which depends on these iterators."""
        return max((d for d, i in enumerate(self.order(phase), 1) if mask >> i & 1), default=0)

    def stored(self, value: int) -> Kept | None:
        return next((kept for kept in self.kept if kept.value == value), None)

    @cached_property
    def needed(self) -> tuple[tuple[int, ...], ...]:
        """For each pass the values that it computes, or reads if they are kept; operands come
        first."""
        found, before = [], set[int]()
        for phase in self.phases:
            pending = [self.reductions[k].value for k in phase.reductions]
            pending += [self.outputs[k].value for k in phase.outputs]
            pending += phase.kept
            seen: set[int] = set()
            while pending:
                value = pending.pop()
                if value not in seen:
                    seen.add(value)
                    if value not in before:
                        pending += operands_of(self.values[value])
            before |= {*phase.kept}
            found.append(tuple(sorted(seen)))
        return tuple(found)

    def read_again(self, number: int) -> frozenset[int]:
        """The values that an earlier pass has kept for this one."""
        return frozenset(value for phase in self.phases[:number] for value in phase.kept)

    def points(self, phase: Phase, depth: int | None = None) -> int:
        """The number of times that the body of a pass, or of its first loops, runs in the whole
        kernel."""
        order = self.order(phase)
        inside = order if depth is None else order[:depth]
        if self.inner is not None and depth is not None and depth < len(order):
            outer = prod(self.domain[i].extent for i in self.parallel) * self.blocks
        else:
            outer = prod(self.domain[i].extent for i in self.parallel)
        return outer * prod(self.domain[i].extent for i in inside)

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
        ranges = ["a part of each first loop"]
    yield f"in parallel for {', '.join(ranges) or 'one piece'}"
    known: set[int] = set()
    for number, phase in enumerate(plan.phases):
        loops = [f"i{i} in {plan.domain[i].lo}:{plan.domain[i].hi}" for i in phase.loops]
        if plan.inner is not None:
            loops.append(f"i{plan.inner} in the block")
        jam = f", {phase.jam} steps at once" if phase.jam > 1 else ""
        yield f"    for {', '.join(loops)}{jam}" if loops else "    once"
        again = plan.read_again(number)
        for place in plan.needed[number]:
            value = plan.values[place]
            if place in again:
                yield f"        v{place} = as kept"
            elif place not in known and not isinstance(value, Constant):
                yield f"        v{place} = {_text(plan, value)}"
            if plan.depth(plan.masks[place], phase) == 0:
                known.add(place)
        for value_kept in phase.kept:
            yield f"        keep v{value_kept}"
        for k in phase.reductions:
            made = plan.reductions[k]
            yield f"        t{k} = {made.reducer} of {_name(plan, made.value)}"
        for k in phase.outputs:
            out = plan.outputs[k]
            yield f"        out{k}[{row_as_text(out.offset)}] = {_name(plan, out.value)}"


def _name(plan: Plan, place: int) -> str:
    value = plan.values[place]
    return str(value.value) if isinstance(value, Constant) else f"v{place}"


def _text(plan: Plan, value: Value) -> str:
    names = [_name(plan, place) for place in operands_of(value)]
    rows: Sequence[Row] = rows_of(value)
    match value:
        case Load(operand, offset, checked, fill, picked=picked):
            where = [row_as_text(offset)] + [f"{c.stride}*[{row_as_text(c.row)}]" for c in checked]
            where += [f"{one.stride}*{_name(plan, one.value)}" for one in picked]
            return f"p{operand}[{' + '.join(where)}]" + (f" else {fill}" if checked else "")
        case Total(k):
            return f"t{k}"
        case Within(_, lo, hi):
            return f"{names[0]} in {lo}:{hi}"
    if rows:
        text = ", ".join(row_as_text(row) for row in rows)
        return f"({text})" if not names else f"{names[0]} where {text} else {names[1]}"
    word = getattr(value, "word", "")
    return f" {word} ".join(names) if word in "+*/" else f"{word}({', '.join(names)})"


def affine_dense(domain: Sequence[Range], iterators: Sequence[int]) -> tuple[Row, int]:
    """The place of a point among all those of the iterators, and how many there are."""
    row, stride = affine.ZERO, 1
    for i in reversed(iterators):
        row = affine.add(row, affine.shift(affine.iterator(i), -domain[i].lo), stride)
        stride *= domain[i].extent
    return row, stride
