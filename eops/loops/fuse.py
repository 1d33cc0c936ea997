"""The choice of stages of a program that one kernel computes together, by predicted time.

    seconds(group of A and B)  <  seconds(group of A) + seconds(group of B)      A and B become one

First, a stage without sums that several others read is computed in each of them, if that is faster
than to write it.  Then groups that read one another are joined, and at last groups that read the
same tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, TypeAlias

from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.cost import LAUNCH, VIEW, seconds
from einderive.eops.loops.drafts.group import Group, is_view
from einderive.ta.ir.node import Scope

Reads = Mapping[Scope, Collection[Scope]]
_Unit: TypeAlias = "Group | Scope"
MOST_STAGES: Final = 24
"""The most stages in one group."""
MOST_VALUES: Final = 1024
"""The most values in a kernel of several stages: more take more than half a second to compile."""


@dataclass
class _Program:
    """`reads` says for every stage, producers first, what other stages it needs; `written` are the
    outputs of the program; `copied` are stages that all groups that read them compute."""

    reads: Reads
    written: frozenset[Scope]
    launch: float = LAUNCH
    copied: set[Scope] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.place = {stage: k for k, stage in enumerate(self.reads)}
        self.readers: dict[Scope, set[Scope]] = {stage: set() for stage in self.reads}
        for stage, read in self.reads.items():
            for source in read:
                self.readers[source].add(stage)

    def group(self, stages: Collection[Scope]) -> Group:
        inside = set(stages)
        ordered = sorted(inside, key=self.place.__getitem__)
        needed = (stage for stage in ordered if self.needed(stage, inside))
        outputs = (stage for stage in needed if stage not in self.copied)
        return Group(tuple(ordered), tuple(outputs))

    def needed(self, stage: Scope, inside: Collection[Scope]) -> bool:
        """Whether the stage is read outside of these stages: also by a copied one of them, which
        another group computes as well."""
        return stage in self.written or any(
            reader not in inside or (reader in self.copied and self.needed(reader, inside))
            for reader in self.readers[stage]
        )

    def units(self, found: Sequence[Group]) -> dict[Scope, list[_Unit]]:
        """For each stage the groups, and the stages in no group, that read its tensor."""
        inside = {stage for group in found for stage in group.stages}
        readers: dict[Scope, list[_Unit]] = {}
        for group in found:
            for source in group.operands:
                if isinstance(source, Scope):
                    readers.setdefault(source, []).append(group)
        for stage, read in self.reads.items():
            if stage not in inside:
                for source in read:
                    readers.setdefault(source, []).append(stage)
        return readers


def _convex(pair: tuple[Group, Group], readers: Mapping[Scope, Sequence[_Unit]]) -> bool:
    """Whether no way leads out of the two groups and back in.  A way that enters a group leaves it
    from any of its stages: a group runs as a whole."""
    pending: list[_Unit] = [*pair]
    seen = set(pending)
    while pending:
        unit = pending.pop()
        for stage in unit.stages if isinstance(unit, Group) else (unit,):
            for reader in readers.get(stage, ()):
                if reader not in seen:
                    seen.add(reader)
                    pending.append(reader)
                elif reader in pair and unit not in pair:
                    return False
    return True


def groups(
    reads: Reads,
    fusible: Collection[Scope],
    written: Collection[Scope],
    launch: float = LAUNCH,
) -> tuple[Group, ...]:
    """The groups of the fusible stages.  A stage is in at least one of them, unless all its readers
    compute it themselves.

    `reads` lists all stages of the program, producers first.  `written` are the stages whose
    tensors are needed outside of the groups.  `launch` are the seconds that a call takes whatever
    it computes.
    """
    program = _Program(reads, frozenset(written), launch)
    found = _recomputed(program, [program.group([stage]) for stage in reads if stage in fusible])
    while True:
        readers = program.units(found)
        pair = next((pair for pair in _pairs(found) if _pays(program, pair, readers)), None)
        if pair is None:
            break
        found = [*(group for group in found if group not in pair), _merged(program, pair)]
    return tuple(found)


def _pairs(found: Sequence[Group]) -> Iterator[tuple[Group, Group]]:
    """Groups of which one reads the other, then those that read the same."""
    beside = []
    for one, other in combinations(found, 2):
        if {*one.outputs} & {*other.operands} or {*other.outputs} & {*one.operands}:
            yield one, other
        elif {*one.operands} & {*other.operands}:
            beside.append((one, other))
    yield from beside


def _merged(program: _Program, pair: tuple[Group, Group]) -> Group:
    one, other = pair
    return program.group([*one.stages, *other.stages])


def _pays(
    program: _Program, pair: tuple[Group, Group], readers: Mapping[Scope, Sequence[_Unit]]
) -> bool:
    one, other = pair
    if len(one.stages) + len(other.stages) > MOST_STAGES:
        return False
    if not _convex(pair, readers):
        return False
    launch = program.launch
    together = predicted(_merged(program, pair), launch)
    apart = (predicted(one, launch) or 0) + (predicted(other, launch) or 0)
    return together is not None and together < apart


def predicted(group: Group, launch: float = LAUNCH) -> float | None:
    """The seconds of the group on dense operands.  None if no one kernel computes it, or only one
    of so many values that it takes long to compile.  A view alone is torch's; a kernel copies
    several of them."""
    if len(group.stages) == 1 and is_view(group.stages[0]):
        return VIEW
    found = plan(group, dense(group))
    if found is None or (len(group.stages) > 1 and len(found.values) > MOST_VALUES):
        return None
    return seconds(found) + (launch - LAUNCH)


def _recomputed(program: _Program, found: Sequence[Group]) -> list[Group]:
    """The groups, where each stage that is cheaper to compute in all that read it is; readers come
    before what they read."""
    left = list(found)
    for group in reversed(found):
        (stage,) = group.stages
        readers = [other for other in left if stage in other.operands]
        inside = {s for other in readers for s in other.stages}
        fixed = stage in program.written or program.readers[stage] - inside
        if stage.sums or fixed or len(readers) < 2:
            continue
        program.copied.add(stage)
        wider = [program.group([*other.stages, stage]) for other in readers]
        after = [predicted(each, program.launch) for each in wider]
        before = sum(predicted(each, program.launch) or 0 for each in (group, *readers))
        if None not in after and sum(seconds or 0 for seconds in after) < before:
            left = [other for other in left if other not in (group, *readers)] + wider
        else:
            program.copied.remove(stage)
    return left
