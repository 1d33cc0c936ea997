"""Groups of stages can run one after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random

import pytest

from einderive.eops.cpu_kernels.build import takes
from einderive.eops.loops import fuse
from einderive.eops.loops.fuse import groups
from einderive.eops.loops.group import Group
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN
from tests.eops.loops.programs import drawn


def waiting(
    reads: Mapping[Scope, Collection[Scope]], found: Sequence[Group], roots: Sequence[Scope]
) -> tuple[list[Group], set[Scope]]:
    """The groups that never have what they read, and the roots that nobody computes."""
    inside = {stage for group in found for stage in group.stages}
    made: set[Scope] = set()
    left = list(found)
    while True:
        before = len(made)
        made |= {s for s, read in reads.items() if s not in inside and made.issuperset(read)}
        ready = [g for g in left if made.issuperset({*g.operands} & reads.keys())]
        made |= {output for group in ready for output in group.outputs}
        left = [group for group in left if group not in ready]
        if not ready and len(made) == before:
            return left, {*roots} - made


def test_a_stage_that_two_groups_compute_has_what_it_reads() -> None:
    """S is a small stage, computed in both groups that read it; the mean that it reads is needed by
    both, and one of the groups reads the other."""
    program = parse(
        "M[k] = sum[j](Z[j,k])/90; S[k] = -finite(M[k]); T[j,k] = -(S[k] + Z[j,k]); "
        "D[i,j] = sum[k]((X[i,k] + T[j,k] + S[k])^2); Y[i] = min[j](D[i,j])",
        {"X": (20, 3), "Z": (90, 3)},
    )
    reads = {stage: nested_scopes(stage) for stage in stages(*program.roots())}
    fusible = list(reads)[:-1]
    found = groups(reads, fusible, program.roots())
    times = [sum(stage in group.stages for group in found) for stage in reads]
    assert max(times) == 2
    assert waiting(reads, found, program.roots()) == ([], set())


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=CAMPAIGN) for k in range(1, 10))])
def test_groups_of_random_programs(part: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each join and each copy pays, what cannot be joined alone keeps groups apart."""
    monkeypatch.setattr(fuse, "predicted", lambda group, *_: 1.0)
    for number in range(20 * part, 20 * part + 20):
        random = Random(f"{seed} {number}")
        roots = drawn(random)
        reads = {stage: nested_scopes(stage) for stage in stages(*roots)}
        fusible = [stage for stage in reads if takes(stage) and random.random() < 0.8]
        assert waiting(reads, groups(reads, fusible, roots), roots) == ([], set())
