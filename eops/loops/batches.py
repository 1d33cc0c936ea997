"""Plans whose rows are done in batches: each pass over some rows before the next pass.

    for each row:  t = max;  s = sum of exp(x - t);  y = log(s) + t

    for each batch of rows:
        for each row:  t[row] = max
        for each row:  s[row] = sum of exp(x - t[row])
        for each row:  y = log(s[row]) + t[row]                         16 rows in one vector

A pass waits for the total that it reads: the steps across a vector, and a function of one number,
take longer than a short row.  In a batch it is the total of a row that was finished long ago, and
functions of totals are computed for 16 rows at once.  The log-sum-exp of rows of 16 numbers takes
less than half the time so, and the softmax of rows of 32 to 256 half to two thirds of it.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

from einderive.eops.dtypes import BYTES
from einderive.eops.loops.cost import CALL, DIVISION, is_written_out, near, operations, share
from einderive.eops.loops.drafts.values import Constant, Operation, Total, Value
from einderive.eops.loops.plan import Kept, Phase, Plan
from einderive.ta.ir import affine

BUSY: Final = 0.8
"""The share of the threads that work, at least."""


def batched(plan: Plan, open_sizes: bool = False) -> Plan | None:
    """The plan in batches, where that is faster; None where it is not, or has no rows.  With
    `open_sizes`, batches have the same number of rows for all sizes."""
    if plan.inner is not None or plan.together or plan.windows or not plan.parallel:
        return None
    written_out = any(is_written_out(plan, phase) for phase in plan.phases)
    if (written_out and not _is_one_vector(plan)) or _waits(plan) < plan.sizes.waits:
        return None
    sizes, rows = plan.sizes, plan.domain[plan.parallel[-1]].extent
    needed = near(plan) + sum(_bytes(plan, one) for one in plan.kept)
    count = int(sizes.batch_bytes // max(needed, 1))
    count = max(sizes.least_batch, min(sizes.batch, count - count % sizes.least_batch))
    if open_sizes:
        count = sizes.least_batch
    while count > sizes.least_batch and share(replace(plan, batch=count)) < BUSY:
        count -= sizes.least_batch
    found = replace(plan, batch=count)
    if rows < count or count * needed > 4 * sizes.batch_bytes or share(found) < BUSY:
        return None
    return _with_functions(found)


def _is_one_vector(plan: Plan) -> bool:
    """Whether each row is rather one vector with a mask in every pass than written out: it has
    nearly as many elements, which are stored, or all but one, and no functions."""
    looped = [number for number, phase in enumerate(plan.phases) if phase.loops]
    least = plan.sizes.written_out
    for number in looped:
        phase = plan.phases[number]
        least = min(least, prod(plan.domain[i].extent for i in phase.loops))
        inside = (p for p in plan.needed[number] if plan.depth(plan.masks[p], phase))
        if any(operations(plan.values[place]) >= CALL for place in inside):
            return False
    stored, sizes = any(plan.phases[number].outputs for number in looped), plan.sizes
    return least >= (sizes.masked if stored else max(sizes.masked, sizes.written_out - 1))


def _bytes(plan: Plan, kept: Kept) -> int:
    return kept.size * BYTES[plan.values[kept.value].kind]


def _waits(plan: Plan) -> int:
    """How much its passes wait: 1 for each that reads a total, and 1 more where it divides by it or
    takes a root, 2 for another function of it; 1 more for results of totals alone, which are
    computed in vectors."""
    found = 0
    for number, phase in enumerate(plan.phases):
        outside, values = _outside(plan, number), [plan.values[k] for k in plan.needed[number]]
        waits = any(isinstance(value, Total) for value in values)
        divides = any(by in outside for by in map(_divisor, values))
        most = max((operations(plan.values[place]) for place in outside), default=0.0)
        dear = 2 if most >= CALL else divides or most >= DIVISION
        found += waits * (1 + dear + (not phase.loops))
    return found


def _divisor(value: Value) -> int | None:
    return value.args[1] if isinstance(value, Operation) and value.word == "/" else None


def _outside(plan: Plan, number: int) -> list[int]:
    """The values that a pass computes once for each row."""
    phase, again = plan.phases[number], plan.read_again(number)
    return [
        place
        for place in plan.needed[number]
        if place not in again
        and plan.depth(plan.masks[place], phase) == 0
        and not isinstance(plan.values[place], Constant)
    ]


def _is_dear(plan: Plan, place: int) -> bool:
    return operations(plan.values[place]) >= DIVISION


def _with_functions(plan: Plan) -> Plan:
    """The plan with functions of totals, which a pass computes before its loops, in passes of their
    own."""
    phases, places = list[Phase](), {one.value for one in plan.kept}
    for number, phase in enumerate(plan.phases):
        dear = [place for place in _outside(plan, number) if _is_dear(plan, place)]
        new = [place for place in dear if place not in places] if phase.loops else []
        if new:
            phases.append(Phase((), (), (), tuple(new)))
            places |= {*new}
        phases.append(phase)
    known = {one.value for one in plan.kept}
    more = tuple(Kept(place, affine.ZERO, 1) for place in sorted(places - known))
    return _without_unread(replace(plan, phases=tuple(phases), kept=(*plan.kept, *more)))


def _without_unread(plan: Plan) -> Plan:
    """The plan without kept values that no later pass reads."""
    read = set[int]()
    for number in range(len(plan.phases)):
        read |= plan.read_again(number) & {*plan.needed[number]}
    phases = [replace(one, kept=tuple(k for k in one.kept if k in read)) for one in plan.phases]
    kept = tuple(one for one in plan.kept if one.value in read)
    return replace(plan, phases=tuple(phases), kept=kept)
