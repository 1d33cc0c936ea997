"""A derivation whose candidates are ranked by measured stages.

    candidates by prediction  ->  stages measured where they decide  ->  candidates anew

`derivations.search.measured` says which stages these are.  Nothing is searched again: the programs
come from the graph that the search left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import torch

from einderive.derivations.search.extract import plans
from einderive.derivations.search.measured import Measure, measure_best
from einderive.frontend.derived import Derived
from einderive.frontend.machine.stage_times import StageTimes
from einderive.frontend.running.settings import undisturbed

PLANS_SECONDS = 0.25
"""Seconds for putting programs together, after those for measuring."""
D = TypeVar("D", bound=Derived)


@undisturbed()
def refined(
    derivation: D,
    inputs: Mapping[Any, torch.Tensor],
    seconds: float,
    measure: Measure | None = None,
) -> D:
    """The derivation with its candidates ranked anew, after about so many seconds of measuring on
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
