"""The search: from roots to ranked plans, with what it did on the way."""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import inf

from einderive.derivations.matching.bound import lower_bound
from einderive.derivations.matching.machine import Machine
from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.search.explore import best_first, explore
from einderive.derivations.search.extract import Plan, plans, unchanged
from einderive.derivations.search.graph import INTERRUPTED, Graph, default_item_bytes
from einderive.derivations.search.progress import Progress, Watch, best_seconds
from einderive.derivations.search.strategy import Budget, Strategy
from einderive.derivations.steps.kernel import Step
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Operator

PUTTING_TOGETHER = 0.5
"""A search of this many seconds puts its programs together in about this part of them."""
LONGEST = 1e9
"""Seconds beyond this are the same as this."""
AGREEING = 1e-9
AT_THE_BOUND = "no program can be faster than the one given"


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of a search: distinct scopes seen and expanded, steps proposed and accepted, seconds,
    the process's peak memory in bytes, why it ended, and what was left out for which reasons.

    Every program takes at least `bound` predicted seconds (see `derivations.matching.bound`).
    """

    states: int
    expanded: int
    steps: int
    seconds: float
    peak_bytes: int
    stopped: str
    pruned: Mapping[str, int]
    bound: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`plans` are ranked by predicted seconds; `unchanged` is the program as given; `graph` is what
    was explored."""

    plans: tuple[Plan, ...]
    unchanged: Plan
    statistics: Statistics
    graph: Graph


@contextmanager
def no_collection() -> Iterator[None]:
    """Without the cyclic garbage collector: neither expressions nor the functions that rebuild them
    form cycles, and walking over all of them again and again costs a fifth of the search."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@no_collection()  # also of the graph's memory, which is given back without it
def search(
    roots: tuple[Scope, ...],
    rules: Sequence[Rule],
    operators: Sequence[Operator],
    machine: Machine,
    budget: Budget,
    watch: Watch | None = None,
    most: int = 16,
    joint_rules: Sequence[JointRule] = (),
    weights: frozenset[str] = frozenset(),
    allowed: Callable[[Step], bool] | None = None,
    strategy: Strategy = best_first,
) -> SearchResult:
    """Explores from the roots within the budget, and ranks the programs found.  Only steps that are
    `allowed` take part.

    `strategy` decides what is explored.  For a budget in states the result is deterministic.
    KeyboardInterrupt ends the search with the best programs so far, during exploration and while
    programs are put together.
    """
    started = time.perf_counter()
    item = default_item_bytes(roots)
    graph = Graph(rules, operators, machine, item, joint_rules, weights, allowed)
    given = unchanged(graph, roots)
    bound = lower_bound(roots, machine, item, weights)
    expanded = 0
    if abs(given.seconds - bound) > AGREEING * bound:  # below it, the two contradict each other
        expanded = explore(graph, roots, budget, watch, strategy)
    else:
        graph.stopped = AT_THE_BOUND

    @cache  # nothing is explored any more
    def best() -> float:
        return best_seconds(graph, roots)

    def progress() -> Progress:
        seconds = time.perf_counter() - started
        return Progress(seconds, len(graph.stages), expanded, 0, best(), 1.0, graph)

    def check() -> None:
        if watch is not None and graph.stopped != INTERRUPTED:
            watch(progress)

    limit = inf if budget.seconds is None else PUTTING_TOGETHER * min(budget.seconds, LONGEST)
    found = plans(graph, roots, most, check, limit)
    seconds = time.perf_counter() - started
    statistics = Statistics(
        states=len(graph.stages),
        expanded=expanded,
        steps=sum(map(len, graph.edges.values())),
        seconds=seconds,
        peak_bytes=peak_bytes(),
        stopped=graph.stopped,
        pruned=dict(graph.pruned),
        bound=bound,
    )
    return SearchResult(found, given, statistics, graph)


def peak_bytes() -> int:
    """The process's largest resident size so far (Linux counts it in KiB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
