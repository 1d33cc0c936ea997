"""The candidates of a derivation, with those that measured extraction finds.

    candidates by prediction  ->  stages measured where they decide  ->  further candidates;
                                  the measured seconds of all that are wholly measured

The candidates keep their numbers, and new ones stand behind them; `refined` ranks all anew.
Nothing is searched again: the programs come from the graph that the search left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

import torch

from einderive.derivations.search.extract import Plan, plans, without_idle_steps
from einderive.derivations.search.measured import OPTIMISM, Measure, Measured, measure_best
from einderive.frontend.derived import Derived
from einderive.frontend.machine.stage_times import ENDLESS, StageTimes
from einderive.frontend.memory.store import Store
from einderive.frontend.running.settings import undisturbed

D = TypeVar("D", bound=Derived)
WHOLE: Final = 6
"""This many candidates are raced whole in any case."""
PLANS: Final = 0.25
"""The part of the seconds for putting programs together."""
PLANS_SECONDS: Final = 0.25
"""Seconds for putting programs together, after those for measuring, where all are ranked."""
UNKNOWN: Final[Mapping[int, float]] = MappingProxyType({})


class Extraction(NamedTuple, Generic[D]):
    """A derivation with its candidates, and the measured seconds of some of these, by their
    numbers, counted from 0."""

    derivation: D
    seconds: Mapping[int, float] = UNKNOWN


def is_open(derivation: Derived, tried: int, beat: float) -> bool:
    """Whether measured stages can change the choice: several candidates are predicted near each
    other, not all are raced whole, and one might beat what takes `beat` seconds."""
    if derivation.graph is None or derivation.target != "cpu" or derivation.stated:
        return False
    found = derivation.candidates
    if len(found) <= min(tried, WHOLE):
        return False
    best = min(plan.seconds for plan in found)
    near = sum(OPTIMISM * plan.seconds <= best for plan in found)
    return near > 1 and OPTIMISM * best < beat


def extracted(
    derivation: D,
    inputs: Mapping[Any, torch.Tensor],
    seconds: float,
    *,
    tried: int,
    beat: float,
    kept: Store,
    measure: Measure | None = None,
) -> Extraction[D]:
    """Measures, in about this many seconds, the stages that decide which candidates are among the
    best; times of stages are `kept`.  Where this cannot change the choice (`is_open`), nothing is
    measured."""
    if not seconds or not tried or not is_open(derivation, tried, beat):
        return Extraction(derivation)
    graph, roots = derivation.graph, derivation.source.roots()
    assert graph is not None
    measure = measure or StageTimes(inputs, (1 - PLANS) * seconds, kept=kept)
    found = measure_best(graph, roots, measure, PLANS * seconds, beat=beat)
    known = {plan.kernels for plan in derivation.candidates}
    new: dict[object, Plan] = {}
    for plan in found.programs:
        if plan.kernels not in known and (found.seconds(plan) or ENDLESS) < ENDLESS:
            new.setdefault(plan.kernels, plan)
    best = sorted(new.values(), key=lambda plan: found.seconds(plan) or ENDLESS)[:tried]
    share = PLANS * seconds / max(1, len(best))
    shorter = [without_idle_steps(graph, roots, plan, share) for plan in best]
    candidates = (*derivation.candidates, *shorter)
    if shorter:
        derivation = replace(derivation, candidates=candidates)
    return Extraction(derivation, _measured(found, candidates))


def _measured(found: Measured, candidates: Sequence[Plan]) -> Mapping[int, float]:
    seconds = ((number, found.seconds(plan)) for number, plan in enumerate(candidates))
    return {number: measured for number, measured in seconds if measured is not None}


@undisturbed()
def refined(
    derivation: D,
    inputs: Mapping[Any, torch.Tensor],
    seconds: float,
    measure: Measure | None = None,
) -> D:
    """The derivation with its candidates ranked anew, after about this many seconds of measuring on
    the inputs.

    It stays as it is for a GPU, and where the graph of the search is not there, as in a derivation
    that was read from a file."""
    if derivation.graph is None or derivation.target != "cpu" or derivation.stated:
        return derivation
    graph, roots = derivation.graph, derivation.source.roots()
    found = measure_best(graph, roots, measure or StageTimes(inputs, seconds), PLANS_SECONDS)
    ranked = plans(
        graph.with_costs(found.costs), roots, len(derivation.candidates), seconds=PLANS_SECONDS
    )
    return replace(derivation, candidates=ranked)
