"""Values that the passes of a plan keep for later passes, in memory of the kernel's own.

rows      D = sum[j](exp(X[j]-M));  Y[j] = exp(X[j]-M)/D      the exponentials of the row
columns   Y[i,j] = X[i,j]*rsqrt(V[j])                         the roots of the block
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from einderive.eops.loops.cost import CALL, TOTAL, operations
from einderive.eops.loops.plan import Kept, Phase, Plan, affine_dense
from einderive.eops.loops.values import Total, operands_of
from einderive.ta.ir import affine

MOST_KEPT: Final = 1 << 14
"""Elements that a pass keeps for later ones: they lie on the stack."""


def with_kept(plan: Plan) -> Iterator[Plan]:
    """The plan, and another one whose passes keep expensive values for later passes."""
    yield plan
    found = _rows_kept(plan) if plan.inner is None else _columns_kept(plan)
    if found is not None:
        yield found


def _rows_kept(plan: Plan) -> Plan | None:
    """What an earlier pass over the same loops has computed already, for each of their points."""
    phases, kept = list(plan.phases), list[Kept]()
    for number, phase in enumerate(plan.phases):
        pending = _roots(plan, phase)
        seen: set[int] = set()
        while pending:
            place = pending.pop()
            if place in seen or plan.depth(plan.masks[place], phase) == 0:
                continue
            seen.add(place)
            first = next(q for q in range(number + 1) if place in plan.needed[q])
            again = first < number and plan.phases[first].loops == phase.loops
            if not again or _effort(plan, place, phase) < CALL:
                pending += operands_of(plan.values[place])
            elif all(one.value != place for one in kept):
                index, size = affine_dense(plan.domain, phase.loops)
                kept.append(Kept(place, index, size))
                phases[first] = replace(phases[first], kept=(*phases[first].kept, place))
    if not kept or sum(one.size for one in kept) > MOST_KEPT:
        return None
    return replace(plan, phases=tuple(phases), kept=tuple(kept))


def _columns_kept(plan: Plan) -> Plan | None:
    """What depends on the shared loops alone is computed once for each step of the block, not for
    each point of a pass."""
    assert plan.inner is not None
    phases, kept = list[Phase](), list[Kept]()
    for phase in plan.phases:
        new: list[int] = []
        pending = _roots(plan, phase) if phase.loops else []
        own = sum(1 << i for i in phase.loops)
        seen: set[int] = set()
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            mask = plan.masks[place]
            if mask & own:
                pending += operands_of(plan.values[place])
            elif (
                mask >> plan.inner & 1
                and _effort(plan, place, phase) >= TOTAL
                and all(one.value != place for one in kept)
            ):
                kept.append(Kept(place, affine.ZERO, plan.block))
                new.append(place)
        if new:
            phases.append(Phase((), (), (), tuple(new)))
        phases.append(phase)
    return replace(plan, phases=tuple(phases), kept=tuple(kept)) if kept else None


def _roots(plan: Plan, phase: Phase) -> list[int]:
    found = [plan.reductions[k].value for k in phase.reductions]
    return found + [plan.outputs[k].value for k in phase.outputs]


def _effort(plan: Plan, place: int, phase: Phase) -> float:
    """The operations of a value in the inner loop of a pass, without its reads."""
    total, pending, seen = 0.0, [place], set[int]()
    while pending:
        value = pending.pop()
        if value not in seen and plan.depth(plan.masks[value], phase):
            seen.add(value)
            total += TOTAL if isinstance(plan.values[value], Total) else 0.0
            total += operations(plan.values[value])
            pending += operands_of(plan.values[value])
    return total
