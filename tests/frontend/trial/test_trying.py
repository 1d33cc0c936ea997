"""Which candidates are tried also where little time is left."""

from __future__ import annotations

import einderive as ed
from einderive.frontend.accuracy.levels import cancelling
from einderive.frontend.trial.trying import PROMISING, sure
from tests.frontend.derived import derived


def test_one_that_cannot_cancel_is_tried_beside_the_best() -> None:
    found = derived("Y[i,j] = (A[i,k]-B[j,k])^2", A=(64, 16), B=(64, 16), budget=ed.Budget(150))
    trying = list(enumerate(found.candidates, 1))
    safe = [(number, plan) for number, plan in trying if not cancelling(plan.steps)]
    risky = [(number, plan) for number, plan in trying if cancelling(plan.steps)]
    assert safe
    assert risky
    first, plan = safe[0]
    beside = [risky[0], *safe]
    assert sure(beside, 2 * plan.seconds / PROMISING) == {risky[0][0], first}
    assert sure(beside, plan.seconds) == {risky[0][0]}
    assert sure(safe, plan.seconds) == {first}
    assert sure([], 1.0) == set()
