"""Programs drawn at random: distinct, complete, with predicted seconds, the same for a seed."""

from __future__ import annotations

from einderive.derivations.search.drawn import drawn
from einderive.derivations.search.strategy import Budget
from einderive.frontend.api.optimize import derive

CHAIN = "Y[i,l] = A[i,j]*B[j,k]*C[k,l] + D[i,l]"
SHAPES = {"A": (64, 64), "B": (64, 64), "C": (64, 4), "D": (64, 4)}


def test_drawn_programs() -> None:
    found = derive(CHAIN, budget=Budget(states=60), **SHAPES)
    assert found.graph is not None
    roots = found.source.roots()
    plans = drawn(found.graph, roots, 5, seed=1)
    assert len({plan.kernels for plan in plans}) == len(plans) > 1
    assert plans == drawn(found.graph, roots, 5, seed=1)
    best = min(plan.seconds for plan in found.candidates)
    for plan in plans:
        assert best <= plan.seconds == sum(stage.seconds for stage in plan.stages)
        assert all(finding.ok for finding in found.check_plan(plan).findings)


def test_no_time_gives_nothing() -> None:
    found = derive(CHAIN, budget=Budget(states=5), **SHAPES)
    assert found.graph is not None
    assert drawn(found.graph, found.source.roots(), 5, seed=1, seconds=-1) == ()
