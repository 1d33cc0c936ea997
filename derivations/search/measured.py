"""Measured extraction: the costs of stages are measured where they decide.

    take the best program, stages without a measurement counted at a part of their prediction
    measure its stages that have no measurement
    put the measured seconds in, and begin again

until no program that is put together with unmeasured stages could be faster, unless one of these
takes less than that part of its prediction.  A stage that several programs have is measured
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

from einderive.derivations.search.extract import Plan, best_plan, plans
from einderive.derivations.search.graph import Graph, Stage
from einderive.ta.ir.node import Scope

OPTIMISM = 0.6
"""The part of its prediction that a stage counts before it is measured.  Half of all stages take
between 0.7 and 1.5 times the prediction (docs/measurements/choice.md)."""
MOST_ROUNDS = 400
LISTED = 16
"""This many programs are looked at before the best one counts as such."""

Costs: TypeAlias = Mapping[tuple[Scope, str | None], float]
"""Seconds of a scope as one stage, by the operator that computes it."""
Measure: TypeAlias = Callable[[Plan, Sequence[Stage]], Costs]
"""The seconds of some stages of a program, at least of one of them; none where time is up."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured stages, and the programs that were put together on the way, in this order and
    with predicted seconds.  `complete` says that the best program is wholly measured."""

    costs: Costs
    programs: tuple[Plan, ...]
    complete: bool

    @property
    def rounds(self) -> int:
        return len(self.programs)

    def seconds(self, plan: Plan) -> float | None:
        """The program's seconds; None where a stage is not measured."""
        if _missing(plan, self.costs):
            return None
        return sum(self.costs.get((s.scope, s.operator), s.seconds) for s in plan.stages)


def measure_best(
    graph: Graph,
    roots: tuple[Scope, ...],
    measure: Measure,
    seconds: float = inf,
    *,
    beat: float = inf,
) -> Measured:
    """Measures what decides which program is the best one.  Programs are put together in about so
    many seconds each time that the best one is wholly measured.  `beat` are the seconds of another
    program, which none is to replace that takes more under optimistic costs."""
    costs: dict[tuple[Scope, str | None], float] = {}
    predicted: dict[tuple[Scope, str | None], float] = {}
    programs: list[Plan] = []
    for _ in range(MOST_ROUNDS):
        plan = _promising(graph.with_costs(costs, OPTIMISM), roots, seconds)
        if plan is None or plan.seconds >= beat:
            return Measured(costs, tuple(programs), True)
        missing = _missing(plan, costs)
        predicted |= {(s.scope, s.operator): s.seconds / OPTIMISM for s in missing}
        found = measure(plan, missing)
        if not found:
            break
        programs.append(with_costs(plan, predicted))
        costs.update(found)
    return Measured(costs, tuple(programs), False)


def _promising(graph: Graph, roots: tuple[Scope, ...], seconds: float) -> Plan | None:
    """The cheapest program of which stages are not measured; None if it is not cheaper than those
    that are."""
    best = best_plan(graph, roots)
    if _missing(best, graph.costs):
        return best
    others = plans(graph, roots, LISTED, seconds=seconds)
    first = min(others, key=lambda plan: (plan.seconds, not _missing(plan, graph.costs)))
    return first if _missing(first, graph.costs) and first.seconds < best.seconds else None


def with_costs(plan: Plan, costs: Costs) -> Plan:
    """The program whose stages take these seconds, where they are known."""
    stages = tuple(
        stage._replace(seconds=costs.get((stage.scope, stage.operator), stage.seconds))
        for stage in plan.stages
    )
    return replace(plan, stages=stages, seconds=sum(stage.seconds for stage in stages))


def _missing(plan: Plan, costs: Costs) -> list[Stage]:
    """The stages that take time and are not measured."""
    return [s for s in plan.stages if s.seconds and (s.scope, s.operator) not in costs]
