"""Plans whose long chains of functions are done in passes, each over a block before the next.

    for each step:  y = tanh(log(1 + exp(x)))

    for each block:
        for each step:  k = exp(x)
        for each step:  l = log(1 + k)
        for each step:  y = tanh(l)

A processor looks some hundred instructions ahead.  Within these lie few steps of a long chain, and
each instruction of a chain waits for the one before: the time of a step is the chain's length times
the number of its instructions.  In passes, each of which has a part of the chain, more steps lie
within reach, and what one pass leaves in the nearest cache costs the next one less than was waited.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from einderive.eops.loops.cost import is_written_out, operations, segments_of
from einderive.eops.loops.drafts.values import Constant, Load, Total, operands_of
from einderive.eops.loops.keep import row_of
from einderive.eops.loops.plan import Kept, Phase, Plan
from einderive.ta.ir import affine

MADE_AGAIN: Final = 2.0
"""Operations of a value that later passes rather compute from what is read than keep."""
MOVED: Final = 2.0
"""Operations to store a value and to read it again."""
MOST_KEPT: Final = 8
"""Values that a pass and its parts leave; blocks of more would fill the nearest cache."""
MOST_MOVED: Final = 0.25
"""The share of a pass's operations that keeping its values may add."""
LINE: Final = 16
"""Blocks have a multiple of so many steps."""


def chained(plan: Plan) -> Plan | None:
    """The plan with its long chains in several passes; None where it has none, or where loops are
    too short to be begun more often."""
    if plan.windows or plan.together or plan.turned is not None or plan.row is not None:
        return None
    block = _block(plan)
    phases, kept = list[Phase](), [*plan.kept]
    for number, phase in enumerate(plan.phases):
        done = {one.value for one in kept}
        steps = block if plan.inner is not None else _steps(plan, phase)
        if _is_loop(plan, number) and steps >= plan.sizes.chain_steps:
            for part in _worthwhile(plan, number):
                new = tuple(place for place in part if place not in done)
                if new:
                    phases.append(Phase(phase.loops, (), (), new))
                    kept += [_place(plan, phase, place, block) for place in new]
                    done |= {*new}
        earlier = {place for one in phases for place in one.kept}
        own = tuple(place for place in phase.kept if place not in earlier)
        phases.append(replace(phase, kept=own))
    if len(phases) == len(plan.phases):
        return None
    found = replace(plan, phases=tuple(phases), kept=tuple(kept), block=block)
    large = sum(one.size for one in found.kept if one.output is None)
    return found if large <= plan.sizes.kept else None


def _is_loop(plan: Plan, number: int) -> bool:
    """Whether the pass is one loop, over the block or over its own loops, of which all steps
    compute the same."""
    phase = plan.phases[number]
    if plan.inner is not None and phase.loops:
        return False
    if not plan.order(phase) or is_written_out(plan, phase):
        return False
    return len(segments_of(plan, number)) == 1


def _steps(plan: Plan, phase: Phase) -> int:
    return prod(plan.domain[i].extent for i in phase.loops)


def _block(plan: Plan) -> int:
    """The steps of a block, of which all have about the same number."""
    if plan.inner is None or any(phase.loops for phase in plan.phases):
        return plan.block
    long, most = plan.domain[plan.inner].extent, plan.sizes.chain_block
    even = -(-long // -(-long // most))
    return min(plan.block, even + -even % LINE)


def _place(plan: Plan, phase: Phase, place: int, block: int) -> Kept:
    if plan.inner is not None:
        return Kept(place, affine.ZERO, block)
    return Kept(place, *row_of(plan.domain, phase.loops))


def _worthwhile(plan: Plan, number: int) -> Sequence[tuple[int, ...]]:
    """What the parts of the pass leave for later ones, where that is little beside what they
    compute."""
    inside = _inside(plan, number)
    found = [*_parts(plan, number, inside)]
    kept = sum(map(len, found))
    computed = sum(operations(plan.values[place]) for place in inside)
    return found if kept <= MOST_KEPT and MOVED * kept <= MOST_MOVED * computed else ()


def _inside(plan: Plan, number: int) -> list[int]:
    """The values that the pass computes in its inner loop."""
    phase, again = plan.phases[number], plan.read_again(number)
    deepest = len(plan.order(phase))
    return [
        place
        for place in plan.needed[number]
        if place not in again
        and plan.depth(plan.masks[place], phase) == deepest
        and not isinstance(plan.values[place], Constant | Load | Total)
    ]


def _parts(plan: Plan, number: int, inside: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """What each part of the pass but the last one leaves for later parts."""
    phase = plan.phases[number]
    part = _numbered(plan, inside)
    last = max(part.values(), default=0)
    until = {place: last if place in _ends(plan, phase) else part[place] for place in inside}
    for place in inside:
        for arg in operands_of(plan.values[place]):
            if arg in until:
                until[arg] = max(until[arg], part[place])
    left = {place for place in inside if until[place] > part[place]}
    left -= _cheap(plan, inside, left)
    for at in range(last):
        yield tuple(place for place in inside if part[place] == at and place in left)


def _ends(plan: Plan, phase: Phase) -> set[int]:
    found = {plan.reductions[k].value for k in phase.reductions} | {*phase.kept}
    return found | {plan.outputs[k].value for k in phase.outputs}


def _numbered(plan: Plan, inside: Sequence[int]) -> Mapping[int, int]:
    """The part of the pass in which each of these values is computed.  A new one begins where the
    chain within a part would be longer than `sizes.chain`, and where a part would have more
    operations than registers serve well."""
    level, length = dict[int, int](), dict[int, float]()
    for place in inside:
        value = plan.values[place]
        args = [arg for arg in operands_of(value) if arg in level]
        at, own = max((level[arg] for arg in args), default=0), operations(value)
        before = max((length[arg] for arg in args if level[arg] == at), default=0.0)
        if before and before + own > plan.sizes.chain:
            at, before = at + 1, 0.0
        level[place], length[place] = at, before + own
    part, number, total, now = dict[int, int](), 0, 0.0, 0
    for place in sorted(inside, key=lambda place: (level[place], place)):
        own = operations(plan.values[place])
        if level[place] > now or (total and total + own > plan.sizes.chain_wide):
            number, total, now = number + 1, 0.0, level[place]
        part[place], total = number, total + own
    return part


def _cheap(plan: Plan, inside: Sequence[int], left: Container[int]) -> set[int]:
    """Values that take few operations from what is read and from others that are left anyway."""
    effort, found = dict[int, float](), set[int]()
    for place in inside:
        value = plan.values[place]
        args = {*operands_of(value)} & effort.keys()
        own = operations(value)
        effort[place] = own + sum(effort[arg] for arg in args)
        kept = all((arg in left and arg not in found) or effort[arg] <= MADE_AGAIN for arg in args)
        if effort[place] <= MADE_AGAIN or (kept and own <= MADE_AGAIN):
            found.add(place)
    return found
