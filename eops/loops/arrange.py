"""From a group of stages to the plan of its kernel: the best of a few by predicted time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Final

from einderive.eops.loops.abreast import abreast
from einderive.eops.loops.batches import batched
from einderive.eops.loops.chains import chained
from einderive.eops.loops.cost import CACHE, near, operations, seconds
from einderive.eops.loops.drafts.bodies import Reduction
from einderive.eops.loops.drafts.draft import Draft, divided, drafted, merged
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import Typing, alike
from einderive.eops.loops.drafts.narrow import narrowed
from einderive.eops.loops.drafts.ordered import ordered
from einderive.eops.loops.drafts.short_sums import written
from einderive.eops.loops.drafts.values import (
    DIVIDED,
    Choice,
    Load,
    Operation,
    Total,
    Value,
    masks,
    operands_of,
    rows_of,
)
from einderive.eops.loops.keep import with_kept
from einderive.eops.loops.plan import Phase, Plan
from einderive.eops.loops.sizes import SIZES, Sizes
from einderive.eops.loops.windows import windowed, with_windows
from einderive.ta.ir import affine

MOST_JAMMED: Final = 40
"""Operations of a step of which several are done at once."""
FEW: Final = 32
"""Pieces of work, at most, in each of which all threads have a part."""

Strides = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=4096)
def plan(
    group: Group,
    strides: Strides,
    typing: Typing | None = None,
    open_sizes: bool = False,
    sizes: Sizes = SIZES,
) -> Plan | None:
    """The plan for operands of these strides, in the order of `group.operands`, and of these types
    (all float32 if none are given).  None if no one kernel computes the group.  No stage may have
    an empty range.  With `open_sizes`, other sizes get the same plan as far as possible."""
    found = plans(group, strides, typing, sizes, open_sizes)
    best = min(
        (one for one in found if one.row is None),
        key=lambda one: (seconds(one), one.abreast == 1),
        default=None,
    )
    if best is None:
        return None
    made = batched(best, open_sizes) or best
    return chained(made) or made


def plans(
    group: Group,
    strides: Strides,
    typing: Typing | None = None,
    sizes: Sizes = SIZES,
    open_sizes: bool = False,
) -> tuple[Plan, ...]:
    """The plans among which `plan` chooses."""
    typing = typing or alike(group, "float32")
    kept = () if open_sizes else tuple(_kept(group, strides, typing, sizes))
    variants = (group, *written(group, open_sizes=open_sizes))
    drafts = (drafted(variant, strides, typing) for variant in variants)
    made = [merged(narrowed(draft)) for draft in drafts if draft is not None]
    found = list[Plan]()
    for draft in made:  # of plans that memory bounds, which so take one time, those by parts
        other = divided(draft, 4 * sizes.short)
        if sizes.by_parts and other is not draft:
            found += filter(_has_parts, _arranged(other, sizes, open_sizes))
    found += [one for draft in made for one in _arranged(draft, sizes, open_sizes)]
    return (*found, *kept)


def _has_parts(plan: Plan) -> bool:
    """Whether no division by parts would find these parts anew at each point of a pass."""
    for number, phase in enumerate(plan.phases):
        again, inside = plan.read_again(number), len(plan.order(phase))
        for value in (plan.values[place] for place in plan.needed[number] if place not in again):
            if isinstance(value, Operation) and value.word == DIVIDED:
                masked = (plan.masks[part] for part in value.args[1:] if part not in again)
                if any(plan.depth(mask, phase) == inside for mask in masked):
                    return False
    return True


def _arranged(draft: Draft, sizes: Sizes, open_sizes: bool) -> Iterator[Plan]:
    """The plans of a draft, without windows."""
    long = [i for i in range(draft.shared) if draft.domain[i].extent > 1]
    if not open_sizes:
        yield from _candidates(draft, long, sizes)
        yield from _together(draft, long, sizes)
        return
    made = ordered(draft)
    used = [i for i in range(made.shared) if made.uses >> i & 1]
    yield from _candidates(made, used, sizes, open_sizes)
    if not long:  # as pieces of work whose number grows would wait too often
        yield from _together(made, long, sizes)
    if used != long:
        yield from _candidates(made, long, sizes, open_sizes)


def dense(group: Group) -> Strides:
    """The strides of operands that lie in memory without gaps."""
    found = []
    for source in group.operands:
        strides, step = list[int](), 1
        for side in reversed(source.ranges):
            strides.insert(0, step)
            step *= max(side.extent, 1)
        found.append(tuple(strides))
    return tuple(found)


def _kept(group: Group, strides: Strides, typing: Typing, sizes: Sizes) -> Iterator[Plan]:
    """Plans that keep windows of stages; whole numbers stay in their own type there."""
    for variant in with_windows(group):
        draft = drafted(variant, strides, typing)
        if draft is None:
            continue
        draft = merged(draft)
        mask = masks(draft.values, draft.shared)
        long = tuple(i for i in range(draft.shared) if draft.domain[i].extent > 1)
        own = any(one.own for one in draft.ends)
        for inner in (*reversed(long), *(None,) * own):
            parallel = tuple(i for i in long if i != inner)
            made = _made(draft, mask, parallel, inner, sizes)
            for along in (*parallel, None):
                found = windowed(made, draft, along)
                if found is not None:
                    yield found


def _candidates(
    draft: Draft, long: Sequence[int], sizes: Sizes, open_sizes: bool = False
) -> Iterator[Plan]:
    """Rows, and columns over each shared loop of `long`."""
    mask = masks(draft.values, draft.shared)
    own = draft.reductions or any(one.own for one in draft.ends)
    if own or not long:
        for made in with_kept(_made(draft, mask, tuple(long), None, sizes)):
            yield made
            if (batches := batched(made, open_sizes)) is not None:
                yield batches
    for inner in reversed(long):
        parallel = tuple(i for i in long if i != inner)
        for made in with_kept(_made(draft, mask, parallel, inner, sizes)):
            yield made
            if not open_sizes and (run := abreast(made)) is not None:
                yield run


def _together(draft: Draft, long: Sequence[int], sizes: Sizes) -> Iterator[Plan]:
    """Pieces of work of which each is shared by all threads, where there are few of them."""
    if not (draft.reductions or any(one.own for one in draft.ends)):
        return
    mask = masks(draft.values, draft.shared)
    for inner in (None, *reversed(long)):
        parallel = tuple(i for i in long if i != inner)
        made = _made(draft, mask, parallel, inner, sizes)
        width = 1 if inner is None else draft.domain[inner].extent
        made = replace(made, block=width)
        if made.pieces > FEW or width * len(made.reductions) > sizes.exchanged:
            continue
        for one in with_kept(made):
            if not _writes_apart(one) and any(phase.loops for phase in one.phases):
                yield replace(one, together=True)
                if (run := abreast(one)) is not None:
                    yield replace(run, together=True)


def _writes_apart(plan: Plan) -> bool:
    """Whether a pass without loops writes results where it keeps a value.  Each thread does such a
    pass for itself: one that is late would write over what others have put there since."""
    waiting = {kept.value for kept in plan.kept if kept.output is not None}
    return any(
        phase.outputs or not waiting.isdisjoint(phase.kept)
        for phase in plan.phases
        if phase.kept and not phase.loops
    )


def _made(
    draft: Draft,
    mask: tuple[int, ...],
    parallel: tuple[int, ...],
    inner: int | None,
    sizes: Sizes,
) -> Plan:
    """The plan without values that are kept."""
    level = levels(draft.values, draft.reductions)
    parts: dict[tuple[int, tuple[int, ...]], tuple[list[int], list[int]]] = {}
    for k, made in enumerate(draft.reductions):
        parts.setdefault((level[made.value], made.own), ([], []))[0].append(k)
    for k, out in enumerate(draft.outputs):
        parts.setdefault((level[out.value], out.own), ([], []))[1].append(k)
    found = Plan(
        draft.group,
        draft.domain,
        draft.shared,
        draft.values,
        mask,
        draft.reductions,
        draft.outputs,
        tuple(
            Phase(own, tuple(parts[at, own][0]), tuple(parts[at, own][1]))
            for at, own in sorted(parts)
        ),
        parallel,
        inner,
        sizes=sizes,
    )
    phases = tuple(
        replace(phase, loops=_loops(found, number, phase))
        for number, phase in enumerate(found.phases)
    )
    found = replace(found, phases=phases)
    phases = tuple(one for number in range(len(phases)) for one in _apart(found, number))
    found = replace(found, phases=phases)
    if inner is None:
        return found
    turned = None
    if not any(phase.loops for phase in phases):
        turned = next((i for i in reversed(parallel) if _turns(found, i, inner)), None)
    phases = tuple(
        replace(phase, jam=_jam(found, number, phase)) for number, phase in enumerate(phases)
    )
    return replace(found, phases=phases, block=_block(found, inner, turned), turned=turned)


def _apart(plan: Plan, number: int) -> Iterator[Phase]:
    """The pass, or one for each of several results where a read is shifted along the inner loop.

    Its vectors then begin within cache lines, and each write goes to two of these.  To two results
    in turn, that takes twice as long as one result after the other: 22 us instead of 10 for
    differences along both dimensions of 200 x 200 numbers."""
    phase = plan.phases[number]
    order = plan.order(phase)
    loads = (plan.values[place] for place in plan.needed[number])
    several = len(phase.outputs) > 1 and not phase.reductions and bool(order)
    several = several and near(plan) <= CACHE  # all passes but the first one read there
    if several and any(_is_shifted(each, order[-1]) for each in loads):
        yield from (replace(phase, outputs=(output,)) for output in phase.outputs)
    else:
        yield phase


def _is_shifted(value: Value, inner: int) -> bool:
    """Whether it is a read along the memory, from another place than where rows begin."""
    if not isinstance(value, Load) or abs(value.step(inner)) != 1:
        return False
    if any(one.row.coefficient(inner) and one.row.const for one in value.checked):
        return True
    shift = value.offset.const
    for step in sorted((abs(a) for _, a in value.offset.terms if abs(a) > 1), reverse=True):
        shift %= step
    return bool(value.offset.coefficient(inner) and shift)


def _jam(plan: Plan, number: int, phase: Phase) -> int:
    """How many steps of the last own loop are done together: several, where a pass does little
    between reading and writing its totals, and nothing may miss."""
    if (
        not phase.reductions
        or not phase.loops
        or plan.domain[phase.loops[-1]].extent < 2 * plan.sizes.jam
    ):
        return 1
    values = [plan.values[place] for place in plan.needed[number]]
    checked = any(
        value.checked if isinstance(value, Load) else isinstance(value, Choice) and value.border
        for value in values
    )
    return 1 if checked or sum(map(operations, values)) > MOST_JAMMED else plan.sizes.jam


def levels(values: Sequence[Value], reductions: Sequence[Reduction]) -> list[int]:
    """The number of reductions that have to be done, one after the other, before each value is
    known."""
    found: list[int] = []
    for value in values:
        level = max((found[arg] for arg in operands_of(value)), default=0)
        if isinstance(value, Total):
            level = found[reductions[value.reduction].value] + 1
        found.append(level)
    return found


def _loops(plan: Plan, number: int, phase: Phase) -> tuple[int, ...]:
    """The own loops of a pass: the last one is that along which most reads walk through memory."""
    loads = [v for v in (plan.values[p] for p in plan.needed[number]) if isinstance(v, Load)]
    long = [i for i in phase.loops if plan.domain[i].extent > 1]
    if not long:
        return phase.loops[:1] if phase.reductions and plan.inner is None else ()
    ordered = sorted(
        long, key=lambda i: (-max((abs(_step(x, i) or 0) for x in loads), default=0), i)
    )
    if plan.inner is None:
        inner = max(ordered, key=lambda i: _score(plan, i, loads, i == ordered[-1]))
        ordered = [*(i for i in ordered if i != inner), inner]
    return tuple(ordered)


def _score(plan: Plan, i: int, loads: Sequence[Load], last: bool) -> float:
    """How well the iterator serves as the inner loop."""
    total = 0.5 if last else 0.0
    for load in loads:
        step = _step(load, i)
        total += -2.0 if step is None else {1: 1.0, 0: 0.6, -1: 0.6}.get(step, -1.0)
    return total - (4.0 if plan.domain[i].extent < plan.sizes.short else 0.0)


def _step(load: Load, i: int) -> int | None:
    """By how much the element moves where the iterator moves by 1; None where that varies."""
    floors = (inner for row in rows_of(load) for inner, _, _ in row.floors)
    return None if any(i in affine.iterators(inner) for inner in floors) else load.step(i)


def _turns(plan: Plan, i: int, inner: int) -> bool:
    """Whether a read walks through memory along the iterator, and jumps along the inner loop."""
    if min(plan.domain[i].extent, plan.domain[inner].extent) < 2 * plan.sizes.short:
        return False
    return any(
        abs(_step(load, i) or 0) == 1 and abs(_step(load, inner) or 0) > 1
        for load in plan.values
        if isinstance(load, Load)
    )


def _block(plan: Plan, inner: int, turned: int | None) -> int:
    """How many steps of the inner loop are one piece of work."""
    long, sizes = plan.domain[inner].extent, plan.sizes
    if any(phase.loops for phase in plan.phases):
        outer = prod(plan.domain[i].extent for i in plan.parallel)
        apart = -(-long * outer // max(sizes.pieces, 2 * sizes.threads))
        return min(long, sizes.tile, max(sizes.least_tile, apart))
    if turned is not None:
        return min(long, sizes.turned_block)
    return sizes.block if long >= 2 * sizes.block else long
