"""Times of stages that outlive the process, and candidates that are ranked by them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.measured import OPTIMISM
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.machine.extraction import refined
from einderive.frontend.machine.stage_times import ENDLESS, KIND, StageTimes
from einderive.frontend.memory.kept import store

TEXT = "Y[i] = A[i,k]*B[k,j]*C[j]"
SHAPES = {"A": (6, 7), "B": (7, 8), "C": (8,)}


def derived(text: str = TEXT, **shapes: tuple[int, ...]) -> ed.Derivation:
    return ed.derive(text, **(shapes or SHAPES), budget=ed.Budget(states=200))


def inputs(derivation: ed.Derivation) -> dict[Any, torch.Tensor]:
    return {tensor: torch.ones(tensor.shape) for tensor in derivation.source.inputs}


def times(derivation: ed.Derivation, **options: Any) -> StageTimes:
    """Every stage takes a second."""

    def time(run: Callable[[], object], seconds: float) -> float:
        run()
        return 1.0

    return StageTimes(inputs(derivation), 1.0, time, **{"clock": lambda: 0.0} | options)


def test_times_serve_another_process_and_another_formula(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    derivation = derived()
    first = times(derivation)
    plan = derivation.candidates[0]
    found = first(plan, plan.stages)
    computing = [stage for stage in plan.stages if stage.seconds]
    assert found == {(stage.scope, stage.operator): 1.0 for stage in computing}
    assert first.timed == len(computing) == sum(kept.kind == KIND for kept in store().every())
    again = times(derivation)
    assert again(plan, plan.stages) == found
    assert again.timed == 0
    other = derived("Z[p] = D[p,q]*E[q,r]*F[r]", D=(6, 7), E=(7, 8), F=(8,))
    named = times(other)
    named(other.candidates[0], other.candidates[0].stages)
    assert named.timed == 0


def test_what_was_kept_may_be_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    derivation = derived()
    plan = derivation.candidates[0]
    times(derivation)(plan, plan.stages)
    for kept in [*store().every()]:
        store().put(kept.kind, kept.key, "no number")
    again = times(derivation)
    assert set(again(plan, plan.stages).values()) == {1.0}
    assert again.timed


def test_when_the_time_is_used_up() -> None:
    derivation = derived()
    plan = derivation.candidates[0]
    assert times(derivation, clock=count(0.0, 2.0).__next__)(plan, plan.stages) == {}


def test_a_program_that_cannot_run_is_endless() -> None:
    derivation = derived()
    plan = derivation.candidates[0]
    found = StageTimes({}, 1.0, clock=lambda: 0.0)(plan, plan.stages)
    assert set(found.values()) == {ENDLESS}


def test_candidates_are_ranked_by_what_was_measured() -> None:
    derivation = derived()
    first = derivation.candidates[0]
    slow = {(stage.scope, stage.operator) for stage in first.stages}

    def measure(plan: Plan, missing: Any) -> Any:
        return {
            (s.scope, s.operator): 1e3 if (s.scope, s.operator) in slow else s.seconds / OPTIMISM
            for s in missing
        }

    found = refined(derivation, inputs(derivation), 1.0, measure)
    assert found.candidates[0].roots != first.roots
    assert found.candidates[0].seconds < 1e3
    assert found.check(0)
    assert isinstance(found, ed.Derivation)


def test_a_gpu_or_a_record_stays_as_it_is(tmp_path: Path) -> None:
    derivation = ed.derive(TEXT, **SHAPES, budget=0.01, target="cuda:90")
    assert refined(derivation, {}, 1.0) is derivation
    derived().save(tmp_path / "record.json")
    read = ed.load(tmp_path / "record.json")
    assert refined(read, {}, 1.0) is read
