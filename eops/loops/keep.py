"""Values that the passes of a plan keep for later passes, in memory of the kernel's own.

rows      D = sum[j](exp(X[j]-M));  Y[j] = exp(X[j]-M)/D      the exponentials of the row; those of
                                                              a long row where Y will be
columns   Y[i,j] = X[i,j]*rsqrt(V[j])                         the roots of the block
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from einderive.eops.loops.cost import TOTAL, is_written_out, operations
from einderive.eops.loops.drafts.values import Total, operands_of
from einderive.eops.loops.plan import Kept, Phase, Plan
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row


def with_kept(plan: Plan) -> Iterator[Plan]:
    """The plan, and another one whose passes keep expensive values for later passes."""
    yield plan
    found = _rows_kept(plan) if plan.inner is None else _columns_kept(plan)
    if found is not None:
        yield found


def _rows_kept(plan: Plan) -> Plan | None:
    """What an earlier pass over the same loops has computed already, for each of their points."""
    again = {
        place: first
        for place, first in _again(plan).items()
        if not is_written_out(plan, plan.phases[first])
    }
    loops = {place: plan.phases[first].loops for place, first in again.items()}
    every = [Kept(place, *row_of(plan.domain, loops[place])) for place in again]
    return _with(plan, again, _placed(plan, every))


def _again(plan: Plan) -> dict[int, int]:
    """The expensive values that a pass computes again, each with the pass that does so first, over
    the same loops."""
    found: dict[int, int] = {}
    for number, phase in enumerate(plan.phases):
        pending, before = _roots(plan, phase), plan.read_again(number)
        seen = {*before}
        while pending:
            place = pending.pop()
            if place in seen or plan.depth(plan.masks[place], phase) == 0:
                continue
            seen.add(place)
            first = next(q for q in range(number + 1) if place in plan.needed[q])
            again = first < number and plan.phases[first].loops == phase.loops
            if not again or _effort(plan, place, phase) < plan.sizes.worth:
                pending += operands_of(plan.values[place])
            else:
                found.setdefault(place, first)
    return found


def _with(plan: Plan, again: Mapping[int, int], kept: Sequence[Kept]) -> Plan | None:
    """The plan in which these values are kept too."""
    phases = list(plan.phases)
    for one in kept:
        first = again[one.value]
        phases[first] = replace(phases[first], kept=(*phases[first].kept, one.value))
    return replace(plan, phases=tuple(phases), kept=(*plan.kept, *kept)) if kept else None


def _placed(plan: Plan, kept: list[Kept]) -> list[Kept]:
    """What can be kept, and where: all on the stack, or in results as far as these serve."""
    if sum(one.size for one in kept) <= plan.sizes.kept:
        return kept
    return _in_results(plan, kept)


def _in_results(plan: Plan, kept: Sequence[Kept]) -> list[Kept]:
    """Those that can lie where results will be, there."""
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
    each point of a pass.  What is expensive and depends on more lies where a result will be."""
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
    found = replace(plan, phases=tuple(phases), kept=tuple(kept))
    again = _again(found)
    more = _in_results(found, [Kept(place, affine.ZERO, 0) for place in again])
    return _with(found, again, more) or (found if kept else None)


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


def row_of(domain: Sequence[Range], iterators: Sequence[int]) -> tuple[Row, int]:
    """The place of a point among all those of the iterators, and how many there are."""
    row, stride = affine.ZERO, 1
    for i in reversed(iterators):
        row = affine.add(row, affine.shift(affine.iterator(i), -domain[i].lo), stride)
        stride *= domain[i].extent
    return row, stride
