"""Programs drawn at random from an explored graph.

seconds of each stage * 10^u,  u uniform in [-1, 1]    ->   the best program under these costs
"""

from __future__ import annotations

from math import inf
from random import Random
from time import perf_counter
from typing import Final

from einderive.derivations.search.extract import Plan, best_plan
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.measured import with_costs
from einderive.ta.ir.node import Scope

DECADES: Final = 1.0
"""The costs are changed by up to this many powers of ten."""
MOST_DRAWS: Final = 5
"""This many draws are made for each program that is asked for; many give one that is there."""


def drawn(
    graph: Graph, roots: tuple[Scope, ...], count: int, seed: int, seconds: float = inf
) -> tuple[Plan, ...]:
    """Up to `count` distinct programs with their predicted seconds, put together in about this many
    seconds.  The same graph and seed give the same programs, if the seconds suffice."""
    random, ends = Random(seed), perf_counter() + seconds
    known = [stage for stage in graph.stages.values() if stage.seconds]
    predicted = {(stage.scope, stage.operator): stage.seconds for stage in known}
    found: dict[object, Plan] = {}
    for _ in range(MOST_DRAWS * count):
        if len(found) == count or perf_counter() > ends:
            break
        costs = {
            key: cost * 10 ** random.uniform(-DECADES, DECADES) for key, cost in predicted.items()
        }
        plan = with_costs(best_plan(graph.with_costs(costs), roots), predicted)
        found.setdefault(plan.kernels, plan)
    return tuple(found.values())
