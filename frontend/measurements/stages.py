"""Measured times of single stages, beside a race of whole programs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from einderive.derivations.search.extract import Plan
from einderive.derivations.search.measured import Costs
from einderive.frontend.accuracy.inputs.drawn import random_inputs
from einderive.frontend.machine.stage_times import ENDLESS, StageTimes
from einderive.frontend.measurements.recorded import RecordedRace, StageSeconds, recorded
from einderive.frontend.running.settings import undisturbed
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.ir.node import Scope

PLANS = 4
"""The stages of this many candidates are timed."""
SECONDS = 0.5
"""About so long they are timed in all."""


@undisturbed()
def stage_seconds(outcome: Outcome, plans: Sequence[Plan]) -> StageSeconds:
    """Measured seconds of each stage alone, by scope and operator, as torch runs it on random
    operands.  Empty on a GPU."""
    if outcome.device != "cpu":
        return {}
    inputs = random_inputs(outcome.derivation.source.inputs, "cpu")
    times = StageTimes(inputs, SECONDS)
    found: dict[tuple[Scope, str | None], float] = {}
    for plan in plans[:PLANS]:
        costs: Costs = times(plan, plan.stages)
        found |= {key: s for key, s in costs.items() if isfinite(s) and s < ENDLESS}
    return found


def race_of(outcome: Outcome) -> RecordedRace:
    """What a record keeps of a race on this machine, its stages timed alone for it."""
    return recorded(outcome, stage_seconds(outcome, outcome.derivation.candidates))
