"""Candidates by their predicted time as compiled loops."""

from __future__ import annotations

import einderive as ed
from einderive.frontend.machine.as_loops import as_loops, fastest_as_loops, roughly

BLUR = "Y[h,w] = X[h+r,w+s]*g[r]*g[s] where h in 0:96, w in 0:96"


def test_the_fastest_as_loops_comes_first() -> None:
    found = ed.derive(BLUR, budget=ed.Budget(states=60), X=(100, 100), g=(5,))
    plans = [*found.candidates, found.unchanged]
    (first, *others) = fastest_as_loops(plans, 60.0)
    assert len(others) == len(plans) - 1
    assert all(as_loops(first) <= as_loops(plan) for plan in others)
    assert as_loops(first) < as_loops(found.unchanged)


def test_one_is_predicted_whatever_the_time() -> None:
    found = ed.derive(BLUR, budget=ed.Budget(states=60), X=(100, 100), g=(5,))
    (only,) = fastest_as_loops(found.candidates, 0.0)
    assert roughly(only) == min(map(roughly, found.candidates))
