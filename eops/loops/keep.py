"""Values that the passes of a plan keep for later passes, in memory of the kernel's own.

rows      D = sum[j](exp(X[j]-M));  Y[j] = exp(X[j]-M)/D      the exponentials of the row; those of
                                                              a long row where Y will be
columns   Y[i,j] = X[i,j]*rsqrt(V[j])                         the roots of the block
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from einderive.eops.loops.cost import TOTAL, operations
from einderive.eops.loops.plan import Kept, Phase, Plan, affine_dense
from einderive.eops.loops.values import Total, operands_of
from einderive.ta.ir import affine


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
            if not again or _effort(plan, place, phase) < plan.sizes.worth:
                pending += operands_of(plan.values[place])
            elif all(one.value != place for one in kept):
                index, size = affine_dense(plan.domain, phase.loops)
                kept.append(Kept(place, index, size))
                phases[first] = replace(phases[first], kept=(*phases[first].kept, place))
    kept = _placed(plan, kept)
    there = {one.value for one in kept}
    phases = [replace(p, kept=tuple(v for v in p.kept if v in there)) for p in phases]
    return replace(plan, phases=tuple(phases), kept=tuple(kept)) if kept else None


def _placed(plan: Plan, kept: list[Kept]) -> list[Kept]:
    """What can be kept, and where: all on the stack, or in results as far as these serve."""
    if sum(one.size for one in kept) <= plan.sizes.kept:
        return kept
    found: list[Kept] = []
    for one in kept:
        taken = {other.output for other in found}
        output = next((k for k in _serving(plan, one.value) if k not in taken), None)
        if output is not None:
            found.append(replace(one, output=output))
    return found


def _serving(plan: Plan, place: int) -> Iterator[int]:
    """The outputs of the value's own type that the last pass that needs it writes, where all that
    need it have the same loops."""
    passes = [number for number, needed in enumerate(plan.needed) if place in needed]
    if len({plan.phases[number].loops for number in passes}) > 1:
        return
    for k in plan.phases[passes[-1]].outputs:
        if plan.outputs[k].dtype == plan.values[place].kind:
            yield k


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
