"""Which assumptions a derivation used: those without which a step does not hold."""

from __future__ import annotations

import pytest

import einderive as ed
from einderive.derivations.record.assumptions import used_by, used_by_all

SHAPES = {"A": (6,), "B": (6,)}


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("assume A > 0, B > 0; Y[i] = exp(log(A[i]))*B[i]", {"A"}),
        ("assume A > 0, B > 0; Y[i] = exp(log(A[i]*B[i]))", {"A", "B"}),
        ("assume A > 0, B > 0; Y[i] = log(exp(A[i]))*B[i]", set()),
        ("assume A > 0, B > 0; Y[i] = A[i]*B[j]", set()),
        ("assume A >= 0; Y[i] = sqrt(A[i])^2 + exp(log(exp(B[i])+A[i]))", {"A"}),
    ],
)
def test_the_assumptions_that_steps_used(text: str, used: set[str]) -> None:
    found = ed.derive(text, budget=ed.Budget(states=60), **SHAPES)
    for plan in found.candidates:
        names = {tensor.name for tensor in used_by_all(plan.steps)}
        assert names <= used
        if not any(f in str(found.staged(plan)) for f in ("exp(log", "sqrt(")):
            assert names == used


def test_a_step_names_its_own() -> None:
    found = ed.derive("assume A > 0, B >= 0; Y[i] = exp(log(A[i])) + sqrt(B[i])^2", **SHAPES)
    (plan,) = (plan for plan in found.candidates if len(plan.steps) == 2)
    assert sorted(t.name for step in plan.steps for t in used_by(step)) == ["A", "B"]
    text = str(found)
    assert all(said in text for said in ("assumptions\n", "(law) uses A > 0.", "uses B >= 0."))
    assert "(law) uses A &gt; 0." in found._repr_html_()
    assert "assumptions" not in str(ed.derive("assume A > 0; Y[i] = log(exp(A[i]))", A=(6,)))
