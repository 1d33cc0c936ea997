"""Formulas in which several terms overflow that have functions with names of their own."""

from __future__ import annotations

import pytest
import torch

import einderive as ed
from einderive.derivations.rules.named import NAMED
from einderive.frontend.timed.trial import in_loops
from einderive.frontend.trial.shifted import named
from einderive.ta.ir.subst import stages
from tests.frontend.races import nobody_is_slow

TERMS = {
    "softplus": "log(1+exp({0}[i]))",
    "sigmoid": "1/(1+exp(-{0}[i]))",
    "logaddexp": "log(exp({0}[i])+exp(2*{0}[i]))",
}


def formula(term: str, count: int) -> tuple[str, dict[str, tuple[int]]]:
    letters = "ABCDEF"[:count]
    return "Y[i] = " + " + ".join(map(TERMS[term].format, letters)), dict.fromkeys(letters, (40,))


@pytest.mark.parametrize("count", [2, 4, 6])
@pytest.mark.parametrize("term", TERMS)
def test_a_candidate_has_the_names_of_all(term: str, count: int) -> None:
    text, shapes = formula(term, count)
    derivation = ed.derive(text, **shapes)
    found = named(derivation)
    assert found is not None
    number, plan = found
    (stage,) = stages(*plan.roots)
    assert str(stage).count(term) == count
    assert "exp(" not in str(stage).replace("logaddexp(", "")
    assert derivation.check(number - 1)


def test_one_term_is_named_by_the_search_alone() -> None:
    text, shapes = formula("softplus", 1)
    (stage,) = stages(*ed.parse(text, **shapes).roots())
    assert not [*NAMED.steps(stage)]
    assert named(ed.derive(text, **shapes)) is not None


def test_nothing_is_named_where_there_is_nothing() -> None:
    assert named(ed.derive("Y[i] = exp(X[i]) + exp(Z[i])", X=(40,), Z=(40,))) is None


@pytest.mark.compiled
def test_the_candidate_is_compiled_and_right_far_from_0(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)
    text, shapes = formula("softplus", 4)
    function = ed.compile(text, seconds=0.01, **shapes)
    compiled = [trial for trial in function.trials if in_loops(trial.label) and trial.plan]
    right = [trial for trial in compiled if trial.verdict == "accepted"]
    assert any("softplus(A[i]) + softplus(B[i])" in str(trial.plan.roots) for trial in right)
    operands = [torch.randn(40) + 1000 for _ in shapes]
    torch.testing.assert_close(function(*operands), sum(operands), rtol=1e-6, atol=0.0)
