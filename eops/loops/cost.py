"""The cost of a plan: bytes, operations, predicted seconds.

    seconds = launch + max(bytes / bandwidth, operations * seconds of one / THREADS)

where all threads work; a share of them has that share of both rates, except that fewer than all of
them reach the whole bandwidth.

An operation is one of a vectorised loop.  Bytes are counted once if a piece of work fits the cache,
however many passes read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from math import prod
from typing import Final

from einderive.eops.dtypes import BYTES, HALVES
from einderive.eops.loops.drafts.values import (
    ROUNDED,
    Choice,
    Constant,
    Load,
    Operation,
    Segment,
    Total,
    Value,
    Windowed,
    Within,
    chosen_with,
    cut_of,
    lanes,
    parts,
    rows_of,
    segments,
)
from einderive.eops.loops.plan import Phase, Plan
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.element import element_bytes

LAUNCH: Final = 1.2e-6
"""Seconds for a call and the memory of its results, within a flat function of several calls."""
VIEW: Final = 1.5e-6
"""Seconds for a view that torch makes."""
WAIT: Final = 2e-6
"""Seconds until all threads have come to one point."""
BANDWIDTH: Final = 2e10
ALONE: Final = 0.6
"""The share of the bandwidth that one thread reaches."""
OPERATION: Final = 6e-11
THREADS: Final = 2
"""More threads come with more of both rates."""
CACHE: Final = 1 << 20
"""Bytes that stay near one processor."""

CALL: Final = 16.0
"""Operations of a function that is a polynomial."""
DIVISION: Final = 4.0
BY_PARTS: Final = 1.0
"""A division by the parts of the divisor."""
WHOLE: Final = ("int64", "int32")
SIMPLE: Final = frozenset(
    {
        *("less", "less_equal", "equal", "not_equal", "choose", "isnan", "isinf", "isfinite"),
        *("abs", "relu", "sign", "finite", "maximum", "minimum", "floor", "ceil", "trunc", "round"),
        *("pi", "nan"),
        *ROUNDED.values(),
    }
)
ROOTS: Final = frozenset({"sqrt", "rsqrt"})
LINE: Final = 64
"""Bytes that come from memory at once."""
PARTS: Final = 1.5
"""Times as long to move short parts of rows as whole rows."""
LONG_PART: Final = 4096
"""Bytes of a part of a row that is as good as a whole row."""
JUMP: Final = 20.0
"""A read that jumps through memory from one step of the inner loop to the next."""
STRIDED: Final = 2.0
"""A read that steps over few elements, for each of its steps: neighbours lie in one vector."""
TURNED: Final = 3.0
"""A read of a tile that was turned."""
LANES: Final = 3.0
"""A read in a loop of which several steps are one, so that no index is divided."""
GATHERED: Final = 10.0
"""A read at a computed index."""
START: Final = 20.0
"""To start an inner loop."""
BORDER: Final = 100.0
"""To find the part of an inner loop where no index misses, and to start what is left."""
SPREAD: Final = 9
"""Places of a loop at which the length of a part of another one is looked at."""
SCALAR: Final = 4.0
"""Times as long as in a vector takes what is computed outside of the inner loop, one by one."""
APART: Final = 4.0
"""Times as long take rows that are written out where their loops are no single one: LLVM vectorises
only that."""
TOTAL: Final = 2.0
STORED_TOTAL: Final = 4.0
"""To add to a total in a register, and to one in memory."""


def operations(value: Value) -> float:
    """The operations of one value whose operands are known.  Reads count apart."""
    match value:
        case Operation("+" | "*", args):
            return len(args) - 1.0
        case Operation("/" | "inverse"):
            return DIVISION
        case Operation("scale" | "scaled"):
            return 2.0
        case Operation("divided"):
            return BY_PARTS
        case Operation(word, _, kind):
            if kind in (word, *WHOLE):
                return 1.0
            return 1.0 if word in SIMPLE else 2 * DIVISION if word in ROOTS else CALL
        case Choice(conditions):
            return float(len(conditions))
        case Within():
            return 2.0
    return 0.0


def _reading(plan: Plan, load: Load, inner: int) -> float:
    """Operations of a read in an inner loop over the iterator."""
    if inner == plan.inner and in_tiles(plan, load):
        return TURNED
    if any(plan.masks[one.value] >> inner & 1 for one in load.picked):
        return GATHERED
    rows = rows_of(load)
    several, step = lanes(rows, inner), 0
    constant = {*parts(rows, inner)}
    for row, stride in zip(rows, (1, *(one.stride for one in load.checked)), strict=True):
        step += row.coefficient(inner) * several * stride
        for divided, n, b in row.floors:
            moved = divided.coefficient(inner) * several
            if inner in affine.iterators(divided) and (divided, n) not in constant:
                if divided.floors or moved % n:
                    return JUMP
                step += b * (moved // n) * stride
    if several > 1 and abs(step) <= 1:
        return LANES
    return 1.0 if abs(step) <= 1 else min(JUMP, STRIDED * abs(step))


def in_tiles(plan: Plan, load: Load) -> bool:
    """Whether the read's tiles can be turned before they are read: in types of 32 bits alone, since
    reads across the memory are faster for longer ones."""
    of_32_bits = load.kind == "float32" and load.dtype in {"float32", *HALVES}
    if plan.turned is None or plan.inner is None or not of_32_bits:
        return False
    if load.checked or load.picked or load.offset.floors:
        return False
    step = abs(load.step(plan.inner)) * BYTES[load.dtype]
    others = {i for i, _ in load.offset.terms} - {*plan.parallel, plan.inner}
    return load.step(plan.turned) == 1 and step >= LINE and not others


def _stepping(plan: Plan, read: Windowed, inner: int) -> float:
    """Operations of a read of a window in an inner loop over the iterator."""
    window = plan.windows[read.window]
    lying = [row for row, side in zip(read.rows, window.sides, strict=True) if side is not None]
    away = any(row.coefficient(inner) for row in lying[:-1])
    last = lying and abs(lying[-1].coefficient(inner)) > 1
    floors = any(inner in affine.iterators(floor) for row in lying for floor, _, _ in row.floors)
    return JUMP if away or last or floors else 1.0


def steps(plan: Plan) -> float:
    """The operations of the whole kernel."""
    return sum(_steps(plan, number, phase) for number, phase in enumerate(plan.phases))


def _has_border(plan: Plan, number: int, inner: int) -> bool:
    """Whether an index that follows the inner loop may miss."""
    values = [plan.values[place] for place in plan.needed[number]]
    rows = [one.row for load in values if isinstance(load, Load) for one in load.checked]
    found = (v.conditions for v in values if isinstance(v, Choice) and v.border)
    rows += [condition.row for conditions in found for condition in conditions]
    return any(inner in affine.iterators(row) for row in rows)


def is_written_out(plan: Plan, phase: Phase) -> bool:
    """Whether a pass over a row has so few steps that they are written out.  LLVM then finds by
    itself what was computed before; memory would keep it from computing several rows at once.  In
    a batch such a row is one vector."""
    steps = prod(plan.domain[i].extent for i in phase.loops)
    return plan.inner is None and plan.row is None and 1 < steps < plan.sizes.written_out


def segments_of(plan: Plan, number: int, fixed: bool = True) -> tuple[Segment, ...]:
    """The parts of a pass's inner loop, `fixed` as in `segments`.  A part is worth a text of its
    own where one of them reads less, or is spared a function."""
    phase, again = plan.phases[number], plan.read_again(number)
    order, needed = plan.order(phase), plan.needed[number]
    inner, deepest = order[-1], len(order)
    steps = plan.domain[inner]
    if phase.window is not None or steps.extent < 2 * plan.sizes.short:
        return (Segment(steps),)

    def is_inside(place: int) -> bool:
        return place not in again and plan.depth(plan.masks[place], phase) == deepest

    choices = [v for p in needed if isinstance(v := plan.values[p], Choice) and is_inside(p)]
    cuts = (cut_of(c, inner) for choice in choices if not choice.border for c in choice.conditions)
    rows = list(dict.fromkeys(cut[0] for cut in cuts if cut is not None))
    if not rows:
        return (Segment(steps),)
    values = {place: plan.values[place] for place in needed if is_inside(place)}
    found = segments(rows, inner, steps, fixed)
    for segment in found:
        left = {*needed_in(plan, number, segment)}
        spared = [value for place, value in values.items() if place not in left]
        if any(isinstance(value, Load) for value in spared):
            return found
        if sum(map(operations, spared)) >= plan.sizes.worth:
            return found
    return (Segment(steps),)


def needed_in(plan: Plan, number: int, segment: Segment) -> tuple[int, ...]:
    """The values that a part of a pass's inner loop needs."""
    inner = plan.order(plan.phases[number])[-1]
    return plan.needed_with(number, chosen_in(plan, number, inner, segment))


def chosen_in(plan: Plan, number: int, inner: int, segment: Segment) -> Mapping[int, int]:
    """The choices that are made there."""
    return chosen_with(plan.values, plan.needed[number], inner, segment.holds)


def share_of(plan: Plan, segment: Segment, inner: int) -> float:
    """The part of the inner loop's steps that are the segment's, on average."""
    steps, holds, cut = segment
    if cut is None:
        return steps.extent / plan.domain[inner].extent
    others = affine.iterators(cut) - {inner}
    places = [_spread(plan.domain[i]) for i in others]
    found = 0.0
    for place in product(*places):
        known = dict(zip(others, place, strict=True)) | {inner: 0}
        first = -(affine.evaluate(cut, known.__getitem__) // cut.coefficient(inner))
        found += (min(max(first, steps.lo), steps.hi) - steps.lo) / steps.extent
    before = found / prod(map(len, places))
    return 1.0 - before if holds[cut] else before


def _spread(side: Range) -> list[int]:
    """Some places of a loop, evenly over it."""
    count = min(side.extent, SPREAD)
    return [side.lo + (2 * k + 1) * side.extent // (2 * count) for k in range(count)]


def _steps(plan: Plan, number: int, phase: Phase) -> float:
    order = plan.order(phase)
    if not order:
        return START * plan.points(phase)
    inner, deepest = order[-1], len(order)
    again = plan.read_again(number)
    at = [0.0] * (deepest + 1)
    cut = segments_of(plan, number)
    at[deepest - 1] += START * (len(cut) - 1)
    shares = dict.fromkeys(plan.needed[number], 1.0 if len(cut) == 1 else 0.0)
    for segment in cut if len(cut) > 1 else ():
        for place in needed_in(plan, number, segment):
            shares[place] += share_of(plan, segment, inner)
    written_out = is_written_out(plan, phase)
    started = 0.0 if written_out else START / (plan.abreast if phase.loops else 1)
    before = {place for needed in plan.needed[:number] for place in needed if written_out}
    at[deepest - 1] += started + BORDER * _has_border(plan, number, inner)
    at[0] += plan.abreast * plan.domain[inner].extent * len(phase.reductions) * (plan.abreast > 1)
    for place in plan.needed[number]:
        value = plan.values[place]
        depth, count = plan.depth(plan.masks[place], phase), 0.0
        if place in before:
            count = 0.0
        elif place in again:
            count = 1.0
        elif isinstance(value, Load):
            count = _reading(plan, value, inner)
        elif isinstance(value, Windowed):
            count = _stepping(plan, value, inner)
        elif isinstance(value, Total):
            count = 0.0 if plan.inner is None else TOTAL
        elif not isinstance(value, Constant):
            count = operations(value)
        at[depth] += count * shares[place] if depth == deepest else SCALAR * count
    at[deepest] += len(phase.kept) + (phase.window is not None)
    at[deepest] += len(phase.reductions) * (
        TOTAL if plan.inner is None else STORED_TOTAL / phase.jam
    )
    for k in phase.outputs:
        at[deepest] += 1.0 if abs(plan.outputs[k].offset.coefficient(inner)) <= 1 else 2 * JUMP
    found = sum(plan.points(phase, depth) * count for depth, count in enumerate(at))
    return found * (APART if written_out and len(plan.parallel) > 1 else 1.0)


def near(plan: Plan) -> float:
    """The bytes that one piece of work reads, and those of results that it reads again."""
    found = dict[int, float]()
    sizes = [element_bytes(source) for source in plan.group.operands]
    outs = {kept.value: kept.output for kept in plan.kept if kept.output is not None}
    for number, phase in enumerate(plan.phases):
        within = prod(plan.domain[i].extent for i in phase.loops) * _block(plan, phase) * plan.batch
        loads = [plan.values[v] for v in plan.needed[number]]
        for operand in {load.operand for load in loads if isinstance(load, Load)}:
            found[operand] = max(found.get(operand, 0.0), within * sizes[operand])
        for output in {outs[value] for value in phase.kept if value in outs}:
            found[-1 - output] = within * element_bytes(plan.outputs[output].scope)
    return sum(found.values())


def _block(plan: Plan, phase: Phase) -> int:
    return 1 if plan.inner is None or phase.window is not None else plan.block


def _again(plan: Plan, phase: Phase, load: Load) -> float:
    """How often a line of memory is read because other pieces of work read its other elements."""
    order, size = plan.order(phase), element_bytes(plan.group.operands[load.operand])
    step = abs(load.step(order[-1])) if order else 0
    others = (abs(load.step(i)) for i in plan.parallel if i != plan.turned)
    beside = plan.turned is None and any(0 < other < step for other in others)
    return min(step, max(1, LINE // size)) if beside else 1.0


def moved(plan: Plan) -> float:
    """The bytes that the plan reads from memory and writes to it."""
    passes, most, lines = dict[int, int](), dict[int, int](), dict[int, float]()
    for number, phase in enumerate(plan.phases):
        loads = [plan.values[v] for v in plan.needed[number]]
        for operand in {load.operand for load in loads if isinstance(load, Load)}:
            passes[operand] = passes.get(operand, 0) + 1
        for load in loads:
            if isinstance(load, Load):
                lines[load.operand] = max(lines.get(load.operand, 1.0), _again(plan, phase, load))
            if isinstance(load, Load) and load.picked:
                most[load.operand] = most.get(load.operand, 0) + plan.points(phase)
    threads = plan.sizes.threads if plan.together else 1
    cached, found = near(plan) <= CACHE * threads, 0.0
    for operand, times in passes.items():
        source = plan.group.operands[operand]
        elements = prod(side.extent for side in source.ranges)
        whole = min(elements, most.get(operand, elements)) * element_bytes(source)
        found += whole * (1 if cached else times) * lines[operand]
    written = {kept.output for kept in plan.kept if not cached}
    for k, out in enumerate(plan.outputs):
        found += element_bytes(out.scope) * out.scope.size * (3 if k in written else 1)
    if plan.blocks > 1 and any(phase.loops for phase in plan.phases):
        part = plan.block * max(map(element_bytes, plan.group.operands), default=0)
        return PARTS * found if part < LONG_PART else found
    return found


def share(plan: Plan) -> float:
    """The share of the threads that work, on average, until the last one is done."""
    if plan.together:
        return 1.0
    threads, pieces = plan.sizes.threads, plan.pieces
    return min(1.0, pieces / (threads * -(-pieces // threads)))


@lru_cache(maxsize=4096)
def seconds(plan: Plan) -> float:
    """The predicted time of one call."""
    working = THREADS * share(plan)
    waits = plan.pieces * (len(plan.phases) + (plan.pieces > 1)) if plan.together else 0
    moving = moved(plan) / (BANDWIDTH * min(1.0, ALONE * working))
    return LAUNCH + WAIT * waits + max(moving, steps(plan) * OPERATION / working)
