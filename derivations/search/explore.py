"""Exploration by a strategy, and the first strategy: best-first on accumulated effort.

A step that lowers the distance to an operator or the predicted cost (a converging step) costs
little effort, any other (an explorative step) costs 1: this is EinNet's hybrid of explorative and
converging derivation, with cost inside.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence

from einderive.derivations.one_pass import SUMMED, one_pass
from einderive.derivations.search.graph import INTERRUPTED, NOT_ALLOWED, Graph, is_view
from einderive.derivations.search.progress import Progress, Watch, best_seconds
from einderive.derivations.search.strategy import CONVERGING_EFFORT, Budget, Expansion, Strategy
from einderive.derivations.steps.kernel import Step
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages

EXPLORING_EFFORT = 1.0
WATCH_EVERY = 8
"""After this many expansions the caller may report progress or interrupt."""


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
        """The number that the budget of states limits."""
        return self._arrivals if self.budget.keep_duplicates else len(self.graph.stages)

    def charge(self, origin: int, scopes: int) -> None:
        self._spent[origin] += scopes

    def __len__(self) -> int:
        return sum(map(len, self._heaps))


def best_first(graph: Graph, roots: tuple[Scope, ...], budget: Budget) -> Iterator[Expansion]:
    """The strategy that expands the scope of least accumulated effort, of equal ones the cheaper,
    in turns between the stages of the given program."""
    frontier = _Frontier(graph, budget)
    for stage in stages(*roots):
        frontier.push(frontier.origin(), stage, 0.0)
        if opened := graph.open(stage):
            origin = frontier.origin()
            for prepared in (*opened, *nested_scopes(opened[-1])):
                frontier.push(origin, prepared, 0.0)
    _push_joints(graph, roots, frontier)
    expanded: set[Scope] = set()
    while True:
        yield Expansion(len(expanded), len(frontier), frontier.seen())
        found = frontier.pop()
        if found is None:
            return
        origin, effort, _, scope = found
        expanded.add(scope)
        known = len(graph.stages)
        if budget.keep_duplicates:
            graph.edges.pop(scope, None)
        for target, further in _successors(graph, scope, budget.converging_effort):
            frontier.push(origin, target, effort + further)
        frontier.charge(origin, len(graph.stages) - known)


def explore(
    graph: Graph,
    roots: tuple[Scope, ...],
    budget: Budget,
    watch: Watch | None = None,
    strategy: Strategy = best_first,
) -> int:
    """Expands scopes as the strategy says, and returns how many were expanded.

    It stops at the budget or at KeyboardInterrupt.  The explored part of the graph stays usable.
    """
    far = Expansion(0, 0, 0)
    started = time.monotonic()

    def progress() -> Progress:
        seconds = time.monotonic() - started
        share = max(far.seen / budget.states, seconds / budget.seconds if budget.seconds else 0.0)
        counts = len(graph.stages), far.expanded, far.waiting
        return Progress(seconds, *counts, best_seconds(graph, roots), min(1.0, share), graph)

    try:
        for far in strategy(graph, roots, budget):
            graph.seen.append((len(graph.stages), time.monotonic() - started))
            if watch is not None and far.expanded and far.expanded % WATCH_EVERY == 0:
                watch(progress)
            if far.seen >= budget.states:
                graph.stopped = "budget of states used up"
                break
            if budget.seconds is not None and time.monotonic() - started > budget.seconds:
                graph.stopped = "budget of seconds used up"
                break
    except KeyboardInterrupt:
        graph.stopped = INTERRUPTED
    return far.expanded


def _successors(
    graph: Graph, scope: Scope, converging_effort: float
) -> Iterator[tuple[Scope, float]]:
    """The scopes to explore after each step from the scope, with the effort of the step."""
    for step in graph.expand(scope):
        targets = explored_after(step)
        converging = converges(graph, step, targets)
        for target in targets:
            yield target, converging_effort if converging else EXPLORING_EFFORT


def explored_after(step: Step) -> tuple[Scope, ...]:
    """The scopes that a step brings up: the new one, if it is more than a view, and what it
    reads."""
    after = step.after
    return nested_scopes(after) if is_view(after) else (after, *nested_scopes(after))


def converges(graph: Graph, step: Step, targets: Sequence[Scope]) -> bool:
    """Whether the step lowers the predicted cost or the distance to an operator."""
    before, near = graph.estimate(step.before), graph.stage(step.before).distance
    far = [graph.stage(target).distance for target in targets]
    closer = all(d <= near for d in far) and any(d < near for d in far)
    return graph.estimate(step.after) < before * 0.999 or closer


def _push_joints(graph: Graph, roots: Sequence[Scope], frontier: _Frontier) -> None:
    """The joined scopes of the given programs' stages, to be explored like any others; and the
    steps to one pass over the data, which end where they are."""
    scopes = stages(*roots)
    for rule in graph.joint_rules:
        for group in rule.groups(scopes):
            if not _join(graph, group):
                continue
            origin = frontier.origin()
            for step in group:
                for producer in nested_scopes(step.after):
                    frontier.push(origin, producer, CONVERGING_EFFORT)
    if any(rule.name == SUMMED for rule in graph.rules):
        for group in one_pass(scopes):
            _join(graph, group)


def _join(graph: Graph, group: Sequence[Step]) -> bool:
    """Whether the steps may take part, which then are among the joint ones."""
    if not all(map(graph.allows, group)):
        graph.pruned[NOT_ALLOWED] += len(group)
        return False
    graph.joints.append({step.before: step for step in group})
    for step in group:
        graph.estimate(step.after)
    return True
