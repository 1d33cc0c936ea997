"""The search space as an AND-OR graph of distinct scopes.

A scope can be computed as one stage (by a library operator or an eOperator, reading its nested
scopes), or by any equal scope that a rule gives.  Since scopes are closed, each distinct scope is
expanded once, wherever in whatever program it occurs; a program is a choice for each scope.

Exploration is best-first on accumulated effort.  A step that lowers the distance to an operator or
the predicted cost (a converging step) costs little effort, any other (an explorative step) costs
1: this is EinNet's hybrid of explorative and converging derivation, with cost inside.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from derivations.cost import Machine, eoperator_work, is_free_view, item_bytes
from derivations.kernel import Step
from derivations.match import distance, match
from derivations.rule import Rule
from ta.node import Access, Scope
from ta.operator import Binding, Operator
from ta.subst import accesses, nested_scopes

CONVERGING_EFFORT = 0.25
EXPLORING_EFFORT = 1.0
LIBRARY_MARGIN = 1.1
"""A library operator is taken where it is predicted to cost at most this many times the kernel."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How one scope is computed as a single stage: `operator` names the library operator, None is
    an eOperator; `reads` are the nested scopes it needs as buffers."""

    scope: Scope
    operator: str | None
    binding: Binding | None
    seconds: float
    reads: tuple[Scope, ...]
    distance: float
    nearest: str


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one search: distinct scopes seen, effort of a chain of steps, wall-clock seconds
    (None: no limit; a limit in seconds makes the result depend on the machine)."""

    states: int = 3000
    effort: float = 5.0
    seconds: float | None = None


@dataclass
class Graph:
    """The explored part of the search space."""

    rules: Sequence[Rule]
    operators: Sequence[Operator]
    machine: Machine
    item: int = 4
    stages: dict[Scope, Stage] = field(default_factory=dict)
    edges: dict[Scope, tuple[Step, ...]] = field(default_factory=dict)
    pruned: Counter[str] = field(default_factory=Counter)
    stopped: str = "space exhausted"

    def stage(self, scope: Scope) -> Stage:
        """The cheapest way to compute the scope as one stage."""
        found = self.stages.get(scope)
        if found is None:
            found = self.stages[scope] = self._stage(scope)
        return found

    def _stage(self, scope: Scope) -> Stage:
        reads = nested_scopes(scope)
        if is_free_view(scope):
            return Stage(scope, "view", None, 0.0, reads, 0.0, "view")
        work = eoperator_work(scope, self.item, self.machine.fused)
        own = self.machine.seconds(work, self.item)
        best: Stage | None = None
        nearest, least = "", float("inf")
        for operator in self.operators:
            result = match(operator, scope)
            far = distance(result)
            if far < least:
                nearest, least = operator.name, far
            if isinstance(result, Binding):
                seconds = self.machine.seconds(operator.work(result), self.item)
                if best is None or seconds < best.seconds:
                    used = (a.source for a in result.operands if isinstance(a.source, Scope))
                    needed = tuple(dict.fromkeys(used))
                    best = Stage(scope, operator.name, result, seconds, needed, 0.0, operator.name)
        if best is not None and best.seconds <= LIBRARY_MARGIN * own:
            return best
        return Stage(scope, None, None, own, reads, least, nearest)

    def estimate(self, scope: Scope) -> float:
        """Predicted seconds of the scope and all it reads, each as the single stage it is."""
        total, seen, pending = 0.0, set(), [scope]
        while pending:
            current = pending.pop()
            if current not in seen:
                seen.add(current)
                stage = self.stage(current)
                total += stage.seconds
                pending.extend(stage.reads)
        return total

    def expand(self, scope: Scope) -> tuple[Step, ...]:
        """The steps from this scope, each result once."""
        found = self.edges.get(scope)
        if found is None:
            steps: dict[Scope, Step] = {}
            for rule in self.rules:
                for step in rule.steps(scope):
                    if step.after in steps:
                        self.pruned["the same expression was reached before"] += 1
                    else:
                        steps[step.after] = step
            found = self.edges[scope] = tuple(steps.values())
        return found


Progress = Callable[[Graph, int, int], None]
"""Called now and then with the graph, the number of expanded scopes and of waiting ones."""


def is_view(scope: Scope) -> bool:
    """Whether the scope only reads another one, whatever the rows: what reindexing leaves."""
    return (
        not scope.sums and isinstance(scope.body, Access) and isinstance(scope.body.source, Scope)
    )


def producers(scope: Scope) -> tuple[Scope, ...]:
    """The nested scopes that are to be explored after a step led to this scope."""
    return tuple(a.source for a in accesses(scope.body) if isinstance(a.source, Scope))


def explore(
    graph: Graph, roots: Sequence[Scope], budget: Budget, progress: Progress | None = None
) -> int:
    """Expand scopes, cheapest accumulated effort first; returns how many were expanded.

    Stops at the budget or at KeyboardInterrupt; what was explored stays usable."""
    order = 0
    heap: list[tuple[float, float, int, Scope]] = []
    best_effort: dict[Scope, float] = {}

    def push(scope: Scope, effort: float) -> None:
        nonlocal order
        if effort > budget.effort:
            graph.pruned["more effort than the budget allows"] += 1
            return
        if effort < best_effort.get(scope, float("inf")):
            best_effort[scope] = effort
            heapq.heappush(heap, (effort, graph.estimate(scope), order, scope))
            order += 1

    expanded: set[Scope] = set()
    started = time.monotonic()
    try:
        for root in roots:
            push(root, 0.0)
            for nested in producers(root):
                push(nested, 0.0)
        while heap:
            if len(graph.stages) >= budget.states:
                graph.stopped = "budget of states used up"
                break
            if budget.seconds is not None and time.monotonic() - started > budget.seconds:
                graph.stopped = "budget of seconds used up"
                break
            effort, before, _, scope = heapq.heappop(heap)
            if effort > best_effort[scope]:
                continue
            expanded.add(scope)
            near = graph.stage(scope).distance
            for step in graph.expand(scope):
                after = step.after
                targets = producers(after) if is_view(after) else (after, *producers(after))
                cost = graph.estimate(after)
                closer = all(graph.stage(t).distance <= near for t in targets) and any(
                    graph.stage(t).distance < near for t in targets
                )
                converging = cost < before * 0.999 or closer
                step_effort = CONVERGING_EFFORT if converging else EXPLORING_EFFORT
                for target in targets:
                    push(target, effort + step_effort)
            if progress is not None and len(expanded) % 64 == 0:
                progress(graph, len(expanded), len(heap))
    except KeyboardInterrupt:
        graph.stopped = "interrupted"
    return len(expanded)


def default_item_bytes(roots: Sequence[Scope]) -> int:
    return max((item_bytes(root) for root in roots), default=4)
