"""Groups of stages can run one after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random

import pytest

from einderive.eops.cpu_kernels.build import takes
from einderive.eops.loops import fuse
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.fuse import groups
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN
from tests.eops.loops.programs import drawn
from tests.showcases.cases_11_17 import ALGEBRA
from tests.showcases.cases_18_30 import LAYERS


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


SLICES = "out Q[i,j] = X[i,j] where j in 0:{0}; out K[i,j] = X[i,j+{0}] where j in 0:{1}"


@pytest.mark.parametrize(
    ("rows", "widths", "kernels"),
    [
        (40, (15, 15), 1),
        (40, (20, 10), 2),  # whose loops no kernel has in common
        (40_000, (200, 200), 2),  # as views take less time than copies
    ],
)
def test_slices_are_copied_together_where_one_kernel_does_it_in_less_time(
    rows: int, widths: tuple[int, int], kernels: int
) -> None:
    roots = parse(SLICES.format(*widths), {"X": (rows, sum(widths))}).roots()
    found = groups(dict.fromkeys(roots, ()), roots, roots)
    assert len(found) == kernels
    assert all(plan(group, dense(group)) is not None for group in found)


@pytest.mark.parametrize(
    "name",
    [
        "16 projections of unequal width, features first",
        "16 two batched projections",
        "24 convolutions 3x3 and 5x5, NHWC",
    ],
)
def test_every_group_of_programs_with_slices_has_a_plan(name: str) -> None:
    case = {**ALGEBRA, **LAYERS}[name]
    roots = parse(*case.problem(case.hand, case.sizes)).roots()
    reads = {stage: nested_scopes(stage) for stage in stages(*roots)}
    found = groups(reads, [stage for stage in reads if takes(stage)], roots)
    assert all(plan(group, dense(group)) is not None for group in found)


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
