"""Measured extraction: which stages are measured, and which program comes first then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from einderive.derivations.search.extract import Plan, best_plan, plans
from einderive.derivations.search.graph import Stage
from einderive.derivations.search.measured import OPTIMISM, Costs, measure_best
from einderive.ta.ir.node import Scope
from tests.amount import first
from tests.derivations.small import FORMULAS, roots, searched

NAMES = sorted(FORMULAS)


def truly(stage: tuple[Scope, str | None], predicted: float) -> float:
    """The seconds that a stage takes: between `OPTIMISM` and three times those predicted."""
    scope, operator = stage
    part = sum(map(ord, f"{scope}{operator}")) * 7919 % 1000 / 1000
    return predicted * (OPTIMISM + part * (3 - OPTIMISM))


def true_seconds(plan: Plan) -> float:
    """Of a program with predicted seconds."""
    return sum(truly((stage.scope, stage.operator), stage.seconds) for stage in plan.stages)


@pytest.mark.parametrize("name", first(2, NAMES))
def test_what_decides_is_measured(name: str) -> None:
    graph, asked = searched(name).graph, list[object]()

    def measure(plan: Plan, missing: Sequence[Stage]) -> Costs:
        stages = {(stage.scope, stage.operator): stage.seconds for stage in missing}
        asked.extend(stages)
        return {stage: truly(stage, seconds / OPTIMISM) for stage, seconds in stages.items()}

    found = measure_best(graph, roots(name), measure)
    assert found.complete
    assert len(set(asked)) == len(asked)  # each stage once
    assert len(asked) < len(graph.stages)
    listed = plans(graph.with_costs(found.costs, OPTIMISM), roots(name))
    whole = [
        plan.seconds
        for plan in listed
        if all(not s.seconds or (s.scope, s.operator) in found.costs for s in plan.stages)
    ]
    assert min(whole) == min(plan.seconds for plan in listed)
    predicted = best_plan(graph, roots(name))
    assert min(whole) <= true_seconds(predicted) * (1 + 1e-9)


def test_a_stage_that_is_slower_than_predicted_is_left_out() -> None:
    name = next(n for n in NAMES if len({p.roots for p in searched(n).plans}) > 1)
    graph = searched(name).graph
    first = best_plan(graph, roots(name))
    slow = {(stage.scope, stage.operator): 1e6 for stage in first.stages if stage.seconds}
    other = best_plan(graph.with_costs(slow), roots(name))
    assert other.roots != first.roots
    assert other.seconds < 1e6


def test_without_time_nothing_is_measured() -> None:
    name = NAMES[0]
    found = measure_best(searched(name).graph, roots(name), lambda plan, missing: {})
    assert (found.costs, found.rounds, found.complete) == ({}, 0, False)


def test_predictions_stay_where_nothing_is_measured() -> None:
    name = NAMES[0]
    graph = searched(name).graph
    assert graph.with_costs({}).stages == graph.stages


@pytest.mark.parametrize("name", first(3, NAMES))
def test_other_costs_decide_as_if_every_stage_was_made_anew(name: str) -> None:
    graph = searched(name).graph
    costs = {
        (stage.scope, stage.operator): truly((stage.scope, stage.operator), stage.seconds)
        for stage in [*graph.stages.values()][::2]
    }
    anew = replace(graph, costs=costs, part=OPTIMISM, stages={})
    for scope in graph.stages:
        anew.stage(scope)
    assert graph.with_costs(costs, OPTIMISM).stages == anew.stages


def test_what_cannot_beat_another_program_is_not_measured() -> None:
    name = NAMES[0]
    graph = searched(name).graph
    bar = OPTIMISM * best_plan(graph, roots(name)).seconds
    asked: list[Plan] = []

    def measure(plan: Plan, missing: Sequence[Stage]) -> Costs:
        asked.append(plan)
        return {(stage.scope, stage.operator): stage.seconds for stage in missing}

    found = measure_best(graph, roots(name), measure, beat=bar * (1 - 1e-9))
    assert found.complete
    assert not asked
    found = measure_best(graph, roots(name), measure, beat=bar * (1 + 1e-9))
    assert [plan.roots for plan in found.programs] == [plan.roots for plan in asked]
    assert asked
    for optimistic, plan in zip(asked[:1], found.programs, strict=False):
        assert plan.seconds == pytest.approx(optimistic.seconds / OPTIMISM)
        assert found.seconds(plan) == pytest.approx(optimistic.seconds)
