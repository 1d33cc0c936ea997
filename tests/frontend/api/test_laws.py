"""Identities of functions take part in a search only where they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.frontend.api.compiled import CompiledFunction
from einderive.ta.errors import NameUnknownError
from tests.frontend.races import candidates_win

FORMULA = "Y[i,e] = exp(Q[i]+K[j])*V[j,e]"
SHAPES = {"Q": (300,), "K": (200,), "V": (200, 8)}


def uses_law(plan: Plan) -> bool:
    return any(step.rule == "exponential" for step in plan.steps)


def rules(derivation: ed.Derivation) -> set[str]:
    return {step.rule for plan in derivation.candidates for step in plan.steps}


def test_the_exponential_is_opaque_by_default() -> None:
    assert "exponential" not in rules(ed.derive(FORMULA, **SHAPES))


@pytest.mark.parametrize("law", ["exp-sum", "exp(a+b) = exp(a)*exp(b)"])
def test_a_named_law_takes_part_and_checks(law: str) -> None:
    derivation = ed.derive(FORMULA, laws=[law], **SHAPES)
    best = derivation.candidates[0]
    assert best.steps[0].rule == "exponential"
    assert best.seconds < derivation.unchanged.seconds / 5
    assert derivation.check(0), str(derivation.check(0))


def compiled_by_law(monkeypatch: pytest.MonkeyPatch, accuracy: Any) -> CompiledFunction:
    """The programs by the law are predicted to be the fastest, and are so here."""
    candidates_win(monkeypatch)
    return ed.compile(FORMULA, laws=["exp-sum"], accuracy=accuracy, seconds=0.01, **SHAPES)


def test_the_program_by_a_law_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    function = compiled_by_law(monkeypatch, "fast")
    generator = np.random.default_rng(3)
    values = {name: generator.standard_normal(shape).astype("f") for name, shape in SHAPES.items()}
    expected = np.exp(values["Q"][:, None].astype("d") + values["K"]) @ values["V"].astype("d")
    np.testing.assert_allclose(function(**values), expected, rtol=1e-4, atol=1e-2)
    by_law = [t for t in function.trials if t.plan and uses_law(t.plan)]
    assert [trial.verdict for trial in by_law] == ["accepted"] * len(by_law)
    assert function.chosen in by_law
    assert "(exponential)" in function.chosen.cancelling[0]


def test_by_default_a_program_that_overflows_where_the_formula_does_not_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """exp(1000 - 1000) is 1, exp(1000)*exp(-1000) is no number."""
    function = compiled_by_law(monkeypatch, "normwise")
    by_law = [t for t in function.trials if t.plan and uses_law(t.plan) and t.families]
    assert by_law
    assert all("digits lost on inputs with clusters at +-1000" in t.verdict for t in by_law)
    assert function.chosen not in by_law


@pytest.mark.parametrize(
    ("law", "message"), [("exp", "there is no law 'exp'"), ("sigmoid", "no rule uses the law")]
)
def test_unknown_and_unused_laws_are_refused(law: str, message: str) -> None:
    with pytest.raises(NameUnknownError, match=message):
        ed.derive(FORMULA, laws=[law], **SHAPES)
