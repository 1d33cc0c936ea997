"""What is handed back is shown to be equal: a candidate that does not check is refused."""

from __future__ import annotations

from typing import Any

import pytest

import einderive as ed
from einderive.derivations.record.verify import Finding, Report
from einderive.frontend.api.compiled import Derivation
from tests.frontend.races import candidates_win

TEXT = "Y[i,j] = sum[k]((A[i,k]-B[j,k])^2)"
SHAPES: Any = {"A": (128, 96), "B": (128, 96)}


def test_the_chosen_candidate_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    check = Derivation.check

    def noted(self: Derivation, candidate: int = 0) -> Report:
        asked.append(candidate)
        return check(self, candidate)

    monkeypatch.setattr(Derivation, "check", noted)
    candidates_win(monkeypatch)
    compiled = ed.compile(TEXT, seconds=0.01, **SHAPES)
    assert compiled.chosen.plan is not None
    assert compiled.derivation.candidates[asked[-1]] is compiled.chosen.plan


def test_one_that_does_not_check_is_not_handed_back(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Report((Finding("step 1, expand", False, "not shown: for a test"),))
    monkeypatch.setattr(Derivation, "check", lambda self, candidate=0: failed)
    candidates_win(monkeypatch)
    compiled = ed.compile(TEXT, seconds=0.01, **SHAPES)
    chosen = compiled.chosen.plan
    assert chosen is None or not chosen.steps
    refused = [trial.verdict for trial in compiled.trials if "step 1, expand" in trial.verdict]
    assert refused
    assert refused[0] == "refused: step 1, expand: not shown: for a test"
