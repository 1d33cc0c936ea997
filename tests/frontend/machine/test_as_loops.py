"""Candidates by their predicted time as compiled loops."""

from __future__ import annotations

import einderive as ed
from einderive.eops.back_ends import narrow_products
from einderive.frontend.machine.as_loops import as_loops, fastest_as_loops, roughly
from einderive.frontend.running.execute import task_of

BLUR = "Y[h,w] = X[h+r,w+s]*g[r]*g[s] where h in 0:96, w in 0:96"


def test_the_fastest_as_loops_comes_first() -> None:
    found = ed.derive(BLUR, budget=ed.Budget(states=60), X=(100, 100), g=(5,))
    plans = [*found.candidates, found.unchanged]
    ((seconds, first), *others) = fastest_as_loops(plans, 60.0)
    assert len(others) == len(plans) - 1
    assert seconds == as_loops(first)
    assert all(seconds <= as_loops(plan) for _, plan in others)
    assert as_loops(first) < as_loops(found.unchanged)


def test_a_narrow_product_is_predicted_as_a_kernel_of_its_own() -> None:
    """Not as one of torch's library, which takes several times as long."""
    found = ed.derive("Y[i,j] = A[i,k]*B[k,j]", budget=0.05, A=(512, 512), B=(512, 4))
    (stage,) = found.unchanged.stages
    assert stage.operator == "matmul"
    predicted = as_loops(found.unchanged)
    assert predicted == narrow_products.predicted(task_of(stage, "cpu", compiled=True))
    wider = ed.derive("Y[i,j] = A[i,k]*B[k,j]", budget=0.05, A=(512, 512), B=(512, 20))
    assert predicted < as_loops(wider.unchanged) < 2.1 * predicted


def test_one_is_predicted_whatever_the_time() -> None:
    found = ed.derive(BLUR, budget=ed.Budget(states=60), X=(100, 100), g=(5,))
    ((_, only),) = fastest_as_loops(found.candidates, 0.0)
    assert roughly(only) == min(map(roughly, found.candidates))
