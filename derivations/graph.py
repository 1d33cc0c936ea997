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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from derivations.cost import (
    Machine,
    eoperator_work,
    is_free_regrouping,
    is_free_view,
    item_bytes,
    overlap_bytes,
)
from derivations.kernel import Step
from derivations.matcher import Matcher
from derivations.rule import JointRule, Rule
from ta.node import Access, Scope
from ta.operator import Binding, Operator
from ta.subst import accesses, nested_scopes, stages

FOLDED = "folded"
"""The stage's operator where it is computed once, from weights alone."""
NOT_ALLOWED = "a step that the accuracy or the NaN option leaves out"
CONVERGING_EFFORT = 0.25
EXPLORING_EFFORT = 1.0
LIBRARY_MARGIN = 1.1
"""A library operator is taken where it is predicted to cost at most this many times the kernel."""


class Stage(NamedTuple):
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
    (None: no limit; a limit in seconds makes the result depend on the machine).

    The other two serve to measure what the search's ideas are worth: `converging_effort` is the
    effort of a converging step (1: such steps are not preferred), and with `keep_duplicates` a
    scope is expanded again for every path that reaches it, `states` then limiting the arrivals."""

    states: int = 3000
    effort: float = 5.0
    seconds: float | None = None
    converging_effort: float = CONVERGING_EFFORT
    keep_duplicates: bool = False


@dataclass
class Graph:
    """The explored part of the search space."""

    rules: Sequence[Rule]
    operators: Sequence[Operator]
    machine: Machine
    item: int = 4
    joint_rules: Sequence[JointRule] = ()
    weights: frozenset[str] = frozenset()
    """Names of tensors that stay the same from call to call: what reads only them is computed once
    and costs nothing."""
    allowed: Callable[[Step], bool] | None = None
    """Which steps may take part; all of them where it is None."""
    joints: list[dict[Scope, Step]] = field(default_factory=list)
    """Steps that only pay together."""
    stages: dict[Scope, Stage] = field(default_factory=dict)
    edges: dict[Scope, tuple[Step, ...]] = field(default_factory=dict)
    pruned: Counter[str] = field(default_factory=Counter)
    stopped: str = "space exhausted"

    def __post_init__(self) -> None:
        self._matcher = Matcher(self.operators)
        self._estimates: dict[Scope, float] = {}

    def stage(self, scope: Scope) -> Stage:
        """The cheapest way to compute the scope as one stage."""
        found = self.stages.get(scope)
        if found is None:
            found = self.stages[scope] = self._stage(scope)
        return found

    def _stage(self, scope: Scope) -> Stage:
        reads = nested_scopes(scope)
        if self.weights and self._is_constant(scope):
            return Stage(scope, FOLDED, None, 0.0, (), 0.0, FOLDED)
        if is_free_view(scope) or self._regroups(scope):
            copied = overlap_bytes(scope, self.item)
            return Stage(scope, "view", None, copied / self.machine.bandwidth, reads, 0.0, "view")
        work = eoperator_work(scope, self.item, self.machine.fused)
        own = self.machine.seconds(work, self.item)
        bindings, least, nearest = self._matcher.matches(scope)
        best: Stage | None = None
        for operator, binding in bindings:
            seconds = self.machine.seconds(operator.work(binding), self.item)
            if best is None or seconds < best.seconds:
                used = [a.source for a in binding.operands if isinstance(a.source, Scope)]
                needed = tuple(dict.fromkeys(used))
                best = Stage(scope, operator.name, binding, seconds, needed, 0.0, operator.name)
        if best is not None and best.seconds <= LIBRARY_MARGIN * own:
            return best
        return Stage(scope, None, None, own, reads, least, nearest)

    def _regroups(self, scope: Scope) -> bool:
        """Whether the scope shows a stage's result under other loops without moving anything."""
        if scope.sums or not isinstance(scope.body, Access):
            return False
        source = scope.body.source
        order: Sequence[int] = range(len(source.shape))
        if isinstance(source, Scope):
            stage = self.stage(source)
            if stage.operator is not None:
                operator = next((o for o in self.operators if o.name == stage.operator), None)
                if operator is None or operator.stored is None or stage.binding is None:
                    return False
                order = operator.stored(stage.binding)
        return is_free_regrouping(scope, order)

    def _is_constant(self, scope: Scope) -> bool:
        """Whether the scope reads weights only, directly or not."""
        return all(
            self._is_constant(access.source)
            if isinstance(access.source, Scope)
            else access.source.name in self.weights
            for access in accesses(scope.body)
        )

    def estimate(self, scope: Scope) -> float:
        """Predicted seconds of the scope and all it reads, each as the single stage it is."""
        known = self._estimates.get(scope)
        if known is None:
            known = self._estimates[scope] = self._estimate(scope)
        return known

    def _estimate(self, scope: Scope) -> float:
        total, seen, pending = 0.0, set(), [scope]
        while pending:
            current = pending.pop()
            if current not in seen:
                seen.add(current)
                stage = self.stage(current)
                total += stage.seconds
                pending.extend(stage.reads)
        return total

    def allows(self, step: Step) -> bool:
        """Whether the step may take part."""
        return self.allowed is None or self.allowed(step)

    def expand(self, scope: Scope) -> tuple[Step, ...]:
        """The steps from this scope, each result once."""
        found = self.edges.get(scope)
        if found is None:
            steps: dict[Scope, Step] = {}
            for rule in self.rules:
                for step in rule.steps(scope):
                    if not self.allows(step):
                        self.pruned[NOT_ALLOWED] += 1
                    elif step.after in steps:
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
    graph: Graph, roots: Sequence[Scope], budget: Budget, progress: Progress | None = None
) -> int:
    """Expand scopes, cheapest accumulated effort first; returns how many were expanded.

    Stops at the budget or at KeyboardInterrupt; what was explored stays usable."""
    frontier = _Frontier(graph, budget)
    expanded: set[Scope] = set()
    started = time.monotonic()
    try:
        for stage in stages(*roots):
            frontier.push(frontier.origin(), stage, 0.0)
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
            if progress is not None and len(expanded) % 64 == 0:
                progress(graph, len(expanded), len(frontier))
        else:
            graph.stopped = "budget of states used up"
    except KeyboardInterrupt:
        graph.stopped = "interrupted"
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


def default_item_bytes(roots: Sequence[Scope]) -> int:
    return max((item_bytes(root) for root in roots), default=4)
