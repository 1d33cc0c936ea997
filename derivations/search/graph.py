"""The search space as an AND-OR graph of distinct scopes.

A scope can be computed as one stage (by a library operator or an eOperator that reads its nested
scopes), or by any equal scope that a rule gives.  Scopes are closed.  So each distinct scope is
expanded once, whichever programs contain it, and a program is a choice for each scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from einderive.derivations.matching.cost import (
    eoperator_work,
    is_free_regrouping,
    is_free_view,
    is_turned,
    reads_no_data,
    stays_inside,
)
from einderive.derivations.matching.machine import KERNEL, Machine
from einderive.derivations.matching.match import MOST_OPERANDS
from einderive.derivations.matching.matcher import Matcher
from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.steps.kernel import Step
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Access, Mul, Scope
from einderive.ta.ir.operator import Binding, Operator, Work
from einderive.ta.ir.subst import accesses, nested_scopes, reached, stages
from einderive.ta.printing.written import MOST_DEPTH, MOST_LENGTH, written
from einderive.ta.traffic.walks import held_strides

FOLDED = "folded"
"""The word for the operator of a stage that is computed once, from weights alone."""
VIEW = "view"
"""The word for a stage that is one read which shows memory in another way; no operator is asked."""
NOT_ALLOWED = "a step that the accuracy or the NaN option leaves out"
TOO_LONG = f"an expression of more than {MOST_LENGTH} reads or {MOST_DEPTH} nested operations"
INTERRUPTED = "interrupted"
MOST_OPENING = 8
"""Opening steps from one stage."""
LIBRARY_MARGIN = 1.1


class Stage(NamedTuple):
    """One way to compute a scope, as a single stage.  `operator` names the library operator; None
    means an eOperator.  `reads` are the nested scopes whose values it needs."""

    scope: Scope
    operator: str | None
    binding: Binding | None
    seconds: float
    reads: tuple[Scope, ...]
    distance: float
    nearest: str

    @property
    def reads_past(self) -> bool:
        """Whether the operator does the work of several stages: it reads past the nearest ones."""
        return self.binding is not None and not _same(self.reads, nested_scopes(self.scope))


def _same(left: tuple[Scope, ...], right: tuple[Scope, ...]) -> bool:
    return left == right or set(left) == set(right)


@dataclass
class Graph:
    """The explored part of the search space."""

    rules: Sequence[Rule]
    operators: Sequence[Operator]
    machine: Machine
    item: int = 4
    joint_rules: Sequence[JointRule] = ()
    weights: frozenset[str] = frozenset()
    """The names of weights, tensors that stay the same from call to call.  A stage that reads only
    weights is computed once and costs nothing."""
    allowed: Callable[[Step], bool] | None = None
    """A test of which steps may take part; None allows all."""
    margin: float = LIBRARY_MARGIN
    """A library operator is taken up to this many times the predicted cost of the kernel."""
    joints: list[dict[Scope, Step]] = field(default_factory=list)
    """Groups of steps that pay only together."""
    opened: dict[Scope, Step] = field(default_factory=dict)
    """The steps of opening rules, and of those that are joined to them, by the scopes that they
    lead from."""
    costs: Mapping[tuple[Scope, str | None], float] = field(default_factory=dict)
    """Measured seconds of scopes as single stages, by the operator (`search.measured`)."""
    part: float = 1.0
    """Other stages count at this part of their predicted seconds."""
    stages: dict[Scope, Stage] = field(default_factory=dict)
    edges: dict[Scope, tuple[Step, ...]] = field(default_factory=dict)
    pruned: Counter[str] = field(default_factory=Counter)
    stopped: str = "space exhausted"
    seen: list[tuple[int, float]] = field(default_factory=list)
    """The numbers of scopes that were known after this many seconds."""

    def __post_init__(self) -> None:
        self._matcher = Matcher(self.operators)
        self._estimates: dict[Scope, float] = {}
        self._reading: dict[tuple[object, ...], Stage] = {}
        self._weighed: set[Scope] = set()

    def stage(self, scope: Scope) -> Stage:
        """The cheapest way to compute the scope as one stage."""
        found = self.stages.get(scope)
        if found is None:
            found = self.stages[scope] = self._costed(self._stage(scope))
        return found

    def _costed(self, stage: Stage) -> Stage:
        """The stage with its measured seconds, where they are known."""
        if not self.costs and self.part == 1.0:
            return stage
        seconds = self.costs.get((stage.scope, stage.operator), self.part * stage.seconds)
        return stage._replace(seconds=seconds)

    def with_costs(
        self, costs: Mapping[tuple[Scope, str | None], float], part: float = 1.0
    ) -> Graph:
        """The graph of the same scopes and steps, where stages take the measured seconds, and all
        others a part of those that are predicted.

        Costs decide which operator computes a scope only where one reads past the nearest stages,
        as it then does their work too.  So all other stages are those of this graph, with other
        seconds.  The graph itself has predicted seconds alone."""
        other = replace(self, costs=costs, part=part, stages={})
        for scope, stage in self.stages.items():
            source = scope.body.source if isinstance(scope.body, Access) else scope
            if scope not in self._weighed and source not in self._weighed:
                other.stages[scope] = other._costed(stage)
        for scope in self.stages:
            other.stage(scope)
        other.stages = {scope: other.stages[scope] for scope in self.stages} | other.stages
        return other

    def without(self, names: Collection[str]) -> Graph:
        """The graph of the same scopes and steps, without the operators of these names."""
        changed = {scope for scope, stage in self.stages.items() if stage.operator in names}
        kept = {
            scope: stage
            for scope, stage in self.stages.items()
            if scope not in changed and changed.isdisjoint(stage.reads)
        }
        operators = [operator for operator in self.operators if operator.name not in names]
        other = replace(self, operators=operators, stages=kept)
        other._weighed = self._weighed
        for scope in self.stages:
            other.stage(scope)
        return other

    def _stage(self, scope: Scope) -> Stage:
        reads = nested_scopes(scope)
        if self.weights and self._is_constant(scope):
            return Stage(scope, FOLDED, None, 0.0, (), 0.0, FOLDED)
        if not scope.sums and (is_free_view(scope) or self._regroups(scope)):
            seconds = self.machine.seconds(self.view_work(scope))
            return Stage(scope, VIEW, None, seconds, reads, 0.0, VIEW)
        if self.computed_once(scope):
            return self._matched(scope, reads)._replace(seconds=0.0)
        body = scope.body
        if not isinstance(body, Access):
            return self._matched(scope, reads)
        key = (
            body.rows,
            scope.loops,
            scope.sums,
            scope.reducer,
            body.source.ranges,
            element_bytes(body.source),
            body.fill,
            held_strides(body.source),
        )
        like = self._reading.get(key)
        if like is None:
            like = self._reading[key] = self._matched(scope, reads)
            return like
        binding = like.binding
        if binding is not None:
            binding = replace(binding, scope=scope, operands=(body,))
        return like._replace(scope=scope, binding=binding, reads=reads)

    def view_work(self, scope: Scope) -> Work:
        """The work of a view: a copy where it runs backwards, which torch's views cannot."""
        turned = 2.0 * scope.size * self.item * (not self.machine.fused and is_turned(scope))
        return Work(0.0, 0.0, 0, bytes_copied=turned)

    def computed_once(self, scope: Scope) -> bool:
        """Whether the stage is computed before the first call, unless it is an output."""
        return not self.machine.fused and reads_no_data(scope)

    def at_each_call(self, scope: Scope) -> Stage:
        """The stage, where it is an output: that is new memory at each call."""
        stage = self.stage(scope)
        if stage.operator in (VIEW, FOLDED) or not self.computed_once(scope):
            return stage
        return self._costed(self._matched(scope, nested_scopes(scope)))

    def _matched(self, scope: Scope, reads: tuple[Scope, ...]) -> Stage:
        """The library operator that the scope is an instance of, or the kernel."""
        work = eoperator_work(scope, self.item, self.machine.fused)
        own = self.machine.seconds(work, self.item, KERNEL)
        bindings, least, nearest = self._matcher.matches(scope)
        best: Stage | None = None
        lowest = self.margin * own
        for operator, binding in bindings:
            seconds = self.machine.seconds(operator.work(binding), self.item, operator.name)
            used = [a.source for a in binding.operands if isinstance(a.source, Scope)]
            needed = tuple(dict.fromkeys(used))
            cost = seconds
            if not _same(needed, reads):
                self._weighed.add(scope)
                cost += self._total(needed) - self._total(reads)
            if cost < lowest or (best is None and cost == lowest):
                best = Stage(scope, operator.name, binding, seconds, needed, 0.0, operator.name)
                lowest = cost
        return best or Stage(scope, None, None, own, reads, least, nearest)

    def _total(self, scopes: tuple[Scope, ...]) -> float:
        """Predicted seconds of the scopes and all they read."""
        for scope in stages(*scopes):
            self.stage(scope)  # producers first: a long chain is not walked down by recursion
        return sum(map(self.estimate, scopes))

    def _regroups(self, scope: Scope) -> bool:
        """Whether the scope shows a stage's result under other loops without moving anything."""
        if scope.sums or not isinstance(scope.body, Access):
            return False
        source = scope.body.source
        stage = self.stage(source) if isinstance(source, Scope) else None
        if not stays_inside(scope):
            return False
        order: Sequence[int] = range(len(source.shape))
        if stage is not None and stage.operator is not None:
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
        """The predicted seconds of the scope and all that it reads, each computed as the single
        stage that it is."""
        known = self._estimates.get(scope)
        if known is None:
            needed = map(self.stage, reached([scope], lambda each: self.stage(each).reads))
            known = self._estimates[scope] = sum(stage.seconds for stage in needed)
        return known

    def allows(self, step: Step) -> bool:
        """Whether the step may take part."""
        return can_be_written(step) and (self.allowed is None or self.allowed(step))

    def open(self, stage: Scope) -> tuple[Scope, ...]:
        """Applies the opening rules to a stage of the given program, one step after the other."""
        found: list[Scope] = []
        rules = [rule for rule in self.rules if rule.opening]
        while len(found) < MOST_OPENING:
            proposed = (step for rule in rules for step in rule.steps(stage))
            step = next((each for each in proposed if self.allows(each)), None)
            if step is None:
                break
            self.opened[stage] = step
            stage = step.after
            found.append(stage)
        for opening, rule in [(each, then) for each in rules if found for then in each.then]:
            step = next((each for each in rule.steps(stage) if self.allows(each)), None)
            if step is not None:
                if opening.joined:
                    self.opened[stage] = step
                stage = step.after
                found.append(stage)
        return tuple(found)

    def expand(self, scope: Scope) -> tuple[Step, ...]:
        """The steps from this scope, each result once."""
        found = self.edges.get(scope)
        if found is None:
            steps: dict[Scope, Step] = {}
            if scope in self.opened:
                steps[self.opened[scope].after] = self.opened[scope]
            for rule in self.rules:
                for step in () if rule.opening else rule.steps(scope):
                    if not can_be_written(step):
                        self.pruned[TOO_LONG] += 1
                    elif self.allowed is not None and not self.allowed(step):
                        self.pruned[NOT_ALLOWED] += 1
                    elif step.after in steps:
                        self.pruned["the same expression was reached before"] += 1
                    else:
                        steps[step.after] = step
            found = self.edges[scope] = tuple(steps.values())
        return found


def can_be_written(step: Step) -> bool:
    """Whether all bodies that the step makes are short enough to be written out."""
    new = (step.after, *nested_scopes(step.after))
    if all(map(_is_short, new)):
        return True
    before = step.before
    given = [written(stage.body) for stage in (before, *nested_scopes(before))]
    return all(written(stage.body).fits(*given) for stage in new)


def _is_short(stage: Scope) -> bool:
    body = stage.body
    factors = body.factors if isinstance(body, Mul) else (body,)
    if len(factors) <= MOST_OPERANDS and not [f for f in factors if not isinstance(f, Access)]:
        return True  # at once: most bodies are, and this is asked of every step
    return written(body).short


def is_view(scope: Scope) -> bool:
    """Whether the scope only reads another one, by any rows.  Reindexing leaves such scopes."""
    return (
        not scope.sums and isinstance(scope.body, Access) and isinstance(scope.body.source, Scope)
    )


def default_item_bytes(roots: Sequence[Scope]) -> int:
    """Bytes of an element of the widest of the programs."""
    return max(map(element_bytes, roots), default=4)
