"""Which stages of a program one kernel computes together, decided by predicted time.

    seconds(group of A and B)  <  seconds(group of A) + seconds(group of B)      A and B become one

Groups that read one another are asked first, then groups that read the same tensor.  At last a
stage without sums that several groups read is computed in each of them, where that is faster than
to write it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.cost import LAUNCH, seconds
from einderive.eops.loops.group import Group
from einderive.ta.ir.node import Access, Scope

Reads = Mapping[Scope, Collection[Scope]]
MOST_STAGES: Final = 24
"""In one group."""


@dataclass
class _Program:
    """`reads` says for every stage, producers first, what other stages it needs; `written` are the
    outputs of the program."""

    reads: Reads
    written: frozenset[Scope]

    def __post_init__(self) -> None:
        self.place = {stage: k for k, stage in enumerate(self.reads)}
        self.readers: dict[Scope, set[Scope]] = {stage: set() for stage in self.reads}
        for stage, read in self.reads.items():
            for source in read:
                self.readers[source].add(stage)

    def group(self, stages: Collection[Scope]) -> Group:
        ordered = sorted(stages, key=self.place.__getitem__)
        inside = set(stages)
        outputs = (s for s in ordered if s in self.written or self.readers[s] - inside)
        return Group(tuple(ordered), tuple(outputs))

    def convex(self, stages: Collection[Scope]) -> bool:
        """Whether no way leads out of the stages and back in."""
        inside = set(stages)
        last = max(self.place[stage] for stage in stages)
        pending = [r for stage in stages for r in self.readers[stage] if r not in inside]
        seen = set(pending)
        while pending:
            for reader in self.readers[pending.pop()]:
                if reader in inside:
                    return False
                if reader not in seen and self.place[reader] < last:
                    seen.add(reader)
                    pending.append(reader)
        return True


def groups(
    reads: Reads, fusible: Collection[Scope], written: Collection[Scope]
) -> tuple[Group, ...]:
    """The groups of the fusible stages, each stage in one of them at least unless all that read it
    compute it themselves.  `reads` lists all stages of the program, producers first; `written` are
    those whose tensors are needed apart from that."""
    program = _Program(reads, frozenset(written))
    found = [program.group([stage]) for stage in reads if stage in fusible]
    while True:
        pair = next((pair for pair in _pairs(found) if _pays(program, pair)), None)
        if pair is None:
            break
        found = [*(group for group in found if group not in pair), _merged(program, pair)]
    return tuple(_recomputed(program, found))


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


def _pays(program: _Program, pair: tuple[Group, Group]) -> bool:
    one, other = pair
    if len(one.stages) + len(other.stages) > MOST_STAGES:
        return False
    if not program.convex([*one.stages, *other.stages]):
        return False
    together = predicted(_merged(program, pair))
    return together is not None and together < (predicted(one) or 0) + (predicted(other) or 0)


def predicted(group: Group) -> float | None:
    """Seconds of the group on operands that are dense; None where no one kernel computes it."""
    if all(isinstance(stage.body, Access) and not stage.sums for stage in group.stages):
        return LAUNCH / 2  # views
    found = plan(group, dense(group))
    return None if found is None else seconds(found)


def _recomputed(program: _Program, found: Sequence[Group]) -> list[Group]:
    """The groups, where each stage that is cheaper to compute in all that read it is."""
    left = list(found)
    for group in found:
        if len(group.stages) > 1 or group.stages[0].sums:
            continue
        (stage,) = group.stages
        readers = [g for g in left if stage in g.operands]
        inside = {s for g in readers for s in g.stages}
        if stage in program.written or not readers or program.readers[stage] - inside:
            continue
        wider = [_with(program, g, stage) for g in readers]
        after = [predicted(g) for g in wider]
        before = [predicted(g) or 0 for g in (group, *readers)]
        if all(s is not None for s in after) and sum(s or 0 for s in after) < sum(before):
            left = [g for g in left if g is not group and g not in readers] + wider
    return left


def _with(program: _Program, group: Group, stage: Scope) -> Group:
    stages = sorted((*group.stages, stage), key=program.place.__getitem__)
    return Group(tuple(stages), group.outputs)
