"""Candidates that measured extraction adds, and the order in which candidates are tried then."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import Stage
from einderive.derivations.search.measured import OPTIMISM, Costs
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.machine import extraction
from einderive.frontend.machine.extraction import Extraction, extracted, is_open
from einderive.frontend.machine.stage_times import ENDLESS, KIND
from einderive.frontend.memory.kept import store
from einderive.frontend.memory.store import Store
from einderive.frontend.trial import choose
from einderive.frontend.trial.trying import worth_trying
from tests.frontend.derived import derived
from tests.frontend.races import nobody_is_slow

TEXT = "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s]"
SHAPES: dict[str, Any] = {"A": (1, 8, 9, 9), "K": (8, 8, 3, 3), "Y": (1, 8, 9, 9)}


def convolution() -> ed.Derivation:
    return derived(TEXT, **SHAPES, budget=ed.Budget(states=60))


def slow(operator: str) -> Any:
    """Stages of this operator take a thousand times their prediction, others exactly that."""

    def measure(plan: Plan, missing: Sequence[Stage]) -> Costs:
        times = {True: 1e3, False: 1.0}
        return {
            (s.scope, s.operator): times[s.operator == operator] * s.seconds / OPTIMISM
            for s in missing
        }

    return measure


def found(derivation: ed.Derivation, **options: Any) -> Extraction[ed.Derivation]:
    given: dict[str, Any] = {"tried": 6, "beat": 1e9, "kept": Store("")}
    return extracted(derivation, {}, 5.0, **given | options)


def test_what_is_slower_than_predicted_is_tried_last() -> None:
    derivation = convolution()
    operator = "conv2d"
    first = found(derivation, measure=slow(operator))
    candidates = first.derivation.candidates
    assert candidates[: len(derivation.candidates)] == derivation.candidates  # the same numbers
    trying = worth_trying(first.derivation, set(), 6, first.seconds)
    best = trying[0][1]
    assert not any(stage.operator == operator for stage in best.stages)
    assert first.seconds[trying[0][0] - 1] == min(first.seconds.values())
    assert all(first.derivation.check(place) for place in range(len(candidates))[-2:])
    assert all(
        any(stage.operator == operator for stage in candidates[place].stages)
        for place, seconds in first.seconds.items()
        if seconds > 100 * min(first.seconds.values())
    )


def test_predictions_that_hold_change_nothing() -> None:
    derivation = convolution()
    first = found(derivation, measure=slow("none"))
    trying = worth_trying(first.derivation, set(), 1, first.seconds)
    assert trying[0][1].seconds == min(plan.seconds for plan in derivation.candidates)


def test_a_program_that_cannot_run_is_no_candidate() -> None:
    def fails(plan: Plan, missing: Sequence[Stage]) -> Costs:
        return {(stage.scope, stage.operator): ENDLESS for stage in missing}

    derivation = convolution()
    assert found(derivation, measure=fails).derivation is derivation


@pytest.mark.parametrize(
    "options", [{"beat": 1e-12}, {"tried": 0}], ids=["nothing can win", "none is tried"]
)
def test_where_the_choice_is_clear_nothing_is_measured(options: dict[str, Any]) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("measured")

    derivation = convolution()
    assert found(derivation, measure=refuse, **options) == (derivation, {})
    few = derived("Y[i] = A[i,k]*x[k]", A=(8, 4), x=(4,))
    assert found(few, measure=refuse) == (few, {})
    gpu = ed.derive(TEXT, **SHAPES, budget=ed.Budget(states=50), target="cuda:90")
    assert found(gpu, measure=refuse) == (gpu, {})
    assert not is_open(gpu, 6, 1e9)


@pytest.mark.extracting
def test_compile_measures_stages_and_keeps_their_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    nobody_is_slow(monkeypatch)
    monkeypatch.setattr(extraction, "is_open", lambda *_: True)
    asked: list[tuple[int, Any]] = []
    real = choose.extracted

    def noted(derivation: Any, *given: Any, **options: Any) -> Any:
        result = real(derivation, *given, **options | {"beat": inf})
        asked.append((len(result.seconds), options["kept"]))
        return result

    monkeypatch.setattr(choose, "extracted", noted)
    derivation = convolution()
    f = derivation.compile(seconds=0.01, tried=2)
    assert asked[0][0] > 0
    assert any(each.kind == KIND for each in store().every())
    a, k = torch.randn(SHAPES["A"]), torch.randn(SHAPES["K"])
    wanted = torch.conv2d(a, k, padding=1)
    torch.testing.assert_close(f(a, k), wanted, rtol=1e-3, atol=1e-3)
    derivation.compile(seconds=0.01, tried=0, remember=False)
    assert type(asked[1][1]) is Store


@pytest.mark.extracting
@pytest.mark.parametrize("effort", ["instant", 3.0])
def test_a_recalled_choice_measures_no_stage(
    effort: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr(extraction, "is_open", lambda *_: True)
    first = ed.compile(TEXT, **SHAPES, effort=effort, seconds=0.01)
    monkeypatch.setattr(choose, "extracted", None)
    again = ed.compile(TEXT, **SHAPES, effort=effort, seconds=0.01)
    assert again.remembered
    assert again.chosen.words == first.chosen.words
    assert len(again.derivation.candidates) == len(first.derivation.candidates)
    assert first.derivation.graph is None
