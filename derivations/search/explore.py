"""Exploration: which scopes are expanded, and in which order.

Best-first on accumulated effort.  A step that lowers the distance to an operator or the predicted
cost (a converging step) costs little effort, any other (an explorative step) costs 1: this is
EinNet's hybrid of explorative and converging derivation, with cost inside.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from einderive.derivations.search.graph import INTERRUPTED, NOT_ALLOWED, Graph, is_view, producers
from einderive.derivations.search.progress import Progress, Watch, best_seconds
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages

CONVERGING_EFFORT = 0.25
EXPLORING_EFFORT = 1.0
WATCH_EVERY = 8
"""After so many expansions the caller may look at how far it is, or interrupt."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one search: distinct scopes seen, effort of a chain of steps, wall-clock seconds
    (None: no limit; a limit in seconds makes the result depend on the machine).

    The other two serve to measure what the search's ideas are worth: `converging_effort` is the
    effort of a converging step (1: such steps are not preferred), and with `keep_duplicates` a
    scope is expanded again for every path that reaches it, `states` then limiting the arrivals."""

    states: int = 3000
    effort: float = 5.0
    seconds: float | None = None
    converging_effort: float = CONVERGING_EFFORT
    keep_duplicates: bool = False


class _Frontier:
    """Scopes waiting to be expanded, by the stage of the given program that they come from.

    Each of these origins gets its share: the one that has brought up the fewest scopes so far is
    asked next, for what takes the least effort, the cheaper first."""

    def __init__(self, graph: Graph, budget: Budget) -> None:
        self.graph, self.budget = graph, budget
        self.best: dict[Scope, float] = {}
        self._heaps: list[list[tuple[float, float, int, Scope]]] = []
        self._spent: list[int] = []
        self._order = 0
        self._arrivals = 0

    def origin(self) -> int:
        self._heaps.append([])
        self._spent.append(0)
        return len(self._heaps) - 1

    def push(self, origin: int, scope: Scope, effort: float) -> None:
        self._arrivals += 1
        if effort > self.budget.effort:
            self.graph.pruned["more effort than the budget allows"] += 1
        elif self.budget.keep_duplicates or effort < self.best.get(scope, float("inf")):
            self.best[scope] = effort
            entry = (effort, self.graph.estimate(scope), self._order, scope)
            heapq.heappush(self._heaps[origin], entry)
            self._order += 1

    def pop(self) -> tuple[int, float, float, Scope] | None:
        """Origin, effort, predicted seconds and scope of the next one; None where none is left."""
        while True:
            waiting = [o for o, heap in enumerate(self._heaps) if heap]
            if not waiting:
                return None
            origin = min(waiting, key=self._spent.__getitem__)
            effort, seconds, _, scope = heapq.heappop(self._heaps[origin])
            if self.budget.keep_duplicates or effort <= self.best[scope]:
                return origin, effort, seconds, scope

    def seen(self) -> int:
        """What the budget of states limits."""
        return self._arrivals if self.budget.keep_duplicates else len(self.graph.stages)

    def charge(self, origin: int, scopes: int) -> None:
        self._spent[origin] += scopes

    def __len__(self) -> int:
        return sum(map(len, self._heaps))


def explore(
    graph: Graph, roots: tuple[Scope, ...], budget: Budget, watch: Watch | None = None
) -> int:
    """Expand scopes, cheapest accumulated effort first; returns how many were expanded.

    Stops at the budget or at KeyboardInterrupt; what was explored stays usable."""
    frontier = _Frontier(graph, budget)
    expanded: set[Scope] = set()
    started = time.monotonic()

    def progress() -> Progress:
        seconds, seen = time.monotonic() - started, frontier.seen()
        share = max(seen / budget.states, seconds / budget.seconds if budget.seconds else 0.0)
        counts = len(graph.stages), len(expanded), len(frontier)
        return Progress(seconds, *counts, best_seconds(graph, roots), min(1.0, share))

    try:
        for stage in stages(*roots):
            frontier.push(frontier.origin(), stage, 0.0)
            if opened := graph.open(stage):
                origin = frontier.origin()
                for prepared in (*opened, *producers(opened[-1])):
                    frontier.push(origin, prepared, 0.0)
        _push_joints(graph, roots, frontier)
        while frontier.seen() < budget.states:
            if budget.seconds is not None and time.monotonic() - started > budget.seconds:
                graph.stopped = "budget of seconds used up"
                break
            found = frontier.pop()
            if found is None:
                break
            origin, effort, _, scope = found
            expanded.add(scope)
            known = len(graph.stages)
            if budget.keep_duplicates:
                graph.edges.pop(scope, None)
            for target, further in _successors(graph, scope, budget.converging_effort):
                frontier.push(origin, target, effort + further)
            frontier.charge(origin, len(graph.stages) - known)
            if watch is not None and len(expanded) % WATCH_EVERY == 0:
                watch(progress)
        else:
            graph.stopped = "budget of states used up"
    except KeyboardInterrupt:
        graph.stopped = INTERRUPTED
    return len(expanded)


def _successors(
    graph: Graph, scope: Scope, converging_effort: float
) -> Iterator[tuple[Scope, float]]:
    """What is to be explored after each step from the scope, and the effort of the step."""
    before, near = graph.estimate(scope), graph.stage(scope).distance
    for step in graph.expand(scope):
        after = step.after
        targets = producers(after) if is_view(after) else (after, *producers(after))
        far = [graph.stage(target).distance for target in targets]
        closer = all(d <= near for d in far) and any(d < near for d in far)
        converging = graph.estimate(after) < before * 0.999 or closer
        for target in targets:
            yield target, converging_effort if converging else EXPLORING_EFFORT


def _push_joints(graph: Graph, roots: Sequence[Scope], frontier: _Frontier) -> None:
    """The joined scopes of the given programs' stages, to be explored like any others."""
    for rule in graph.joint_rules:
        for group in rule.groups(stages(*roots)):
            if not all(map(graph.allows, group)):
                graph.pruned[NOT_ALLOWED] += len(group)
                continue
            graph.joints.append({step.before: step for step in group})
            origin = frontier.origin()
            for step in group:
                graph.estimate(step.after)
                for producer in producers(step.after):
                    frontier.push(origin, producer, CONVERGING_EFFORT)
