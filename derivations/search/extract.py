"""From the explored graph to programs: choices for each scope replayed, then views folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import NamedTuple

from einderive.derivations.search.choice import choices
from einderive.derivations.search.folding import Folding, is_copy
from einderive.derivations.search.graph import INTERRUPTED, Graph, Stage
from einderive.derivations.search.replay import Heights, replay
from einderive.derivations.search.variants import Variant, Variants
from einderive.derivations.steps.kernel import Step
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import reached, stages

HOPELESS = 30.0
"""Programs whose predicted time is this many times the best one's, and above that of the given
program, are not listed."""
EFFORT = 4000
"""The total number of stages in the programs that are put together for one choice of the cheapest
ways: a program of twenty stages is tried in two hundred variants, one of two hundred stages in
twenty."""
NOT_TRIED = "variants of a long program that were not put together"
NOT_SHORTENED = "steps of a long program that were not tried without"


@dataclass(frozen=True, slots=True)
class Plan:
    """A complete program in stages that is equal to the given one, and the steps that lead to it.

    `roots` are its outputs, `stages` its scopes with the operators that compute them, `seconds` its
    predicted time."""

    roots: tuple[Scope, ...]
    steps: tuple[Step, ...]
    stages: tuple[Stage, ...]
    seconds: float

    @property
    def kernels(self) -> object:
        """The program, and what its stages run."""
        return self.roots, tuple([(stage.scope, stage.operator) for stage in self.stages])


class _Way(NamedTuple):
    """A plan, the chosen steps that it was made by, before folding, and what made it."""

    plan: Plan
    chosen: tuple[Step, ...]
    maker: _Maker


class _Limits(NamedTuple):
    """The stages that may be put together, and the time at which that ends."""

    effort: int
    ends: float

    def reached(self, spent: int) -> bool:
        return spent >= self.effort or perf_counter() > self.ends


class _Maker:
    """Puts programs together from one graph; remembers what they share."""

    def __init__(self, graph: Graph, roots: tuple[Scope, ...], heights: Heights) -> None:
        self.graph, self.roots, self.heights = graph, roots, heights
        self._folding = Folding(graph)

    def make(self, steps: Sequence[Step], keep_copies: bool) -> _Way:
        """The steps replayed on the roots, and the views that they left folded into their
        readers."""
        roots, applied = replay(self.roots, steps, self.heights)
        roots, folds = self._folding.fold(roots, keep_copies)
        used = used_stages(self.graph, roots)
        plan = Plan(roots, (*applied, *folds), used, sum(stage.seconds for stage in used))
        return _Way(plan, applied, self)


def plans(
    graph: Graph,
    roots: tuple[Scope, ...],
    most: int = 16,
    check: Callable[[], None] = lambda: None,
    seconds: float = inf,
) -> tuple[Plan, ...]:
    """Up to `most` different programs for the roots, the cheapest first.

    The first is the best one overall.  For the others, each step from a root, and then each step of
    comparable cost from a scope on such a path, is taken in turn, and the rest is chosen as best.
    Of programs with the same operators that are reached by the same rules, the best stands in front
    and the others behind all the rest, so that the list shows different ideas before variations of
    one.

    For long programs not all of these are put together (`EFFORT`), nor where it takes more than
    about this many `seconds`: half of them are for programs, the rest for shorter derivations of
    those that are listed.  `check` is called between any
    two programs.  If it raises KeyboardInterrupt, the result is the best program so far, and at
    least the program as given.  If exploration was interrupted already, less effort is spent.
    """
    ways: dict[object, _Way] = {}
    effort = EFFORT // 10 if graph.stopped == INTERRUPTED else EFFORT
    started = perf_counter()
    try:
        _collect(ways, graph, roots, _Limits(effort, started + seconds / 2), check)
    except KeyboardInterrupt:
        graph.stopped = INTERRUPTED
    given = unchanged(graph, roots)
    if not ways:
        return (given,)
    ranked = sorted([way.plan for way in ways.values()], key=_rank)
    worst = max(HOPELESS * ranked[0].seconds, given.seconds)
    graph.pruned["programs predicted to be far slower"] += sum(p.seconds > worst for p in ranked)
    ranked = [plan for plan in ranked if plan.seconds <= worst]
    kept = _without_detours(graph, ranked)
    first: dict[object, Plan] = {}
    for plan in kept:
        first.setdefault(_idea(plan), plan)
    fresh = {plan.kernels for plan in first.values()}
    listed = [*first.values(), *(plan for plan in kept if plan.kernels not in fresh)]
    listed = _with_repairs(graph, listed)[:most]
    result: list[Plan] = []
    try:
        for plan in listed:
            share = effort // (len(listed) - len(result))
            shorter, spent = _shortened(
                ways[plan.kernels], _Limits(share, started + seconds), check
            )
            result.append(shorter)
            effort -= spent
    except KeyboardInterrupt:
        graph.stopped = INTERRUPTED
    return (*result, *listed[len(result) :])


def best_plan(graph: Graph, roots: tuple[Scope, ...]) -> Plan:
    """The cheapest program alone: the best choice for each scope, and the roots as they are."""
    maker = _Maker(graph, roots, Heights())
    found: list[Plan] = []
    for padding_free in (True, False):
        best = choices(graph, roots, padding_free=padding_free)
        variants = Variants(graph, roots, best, maker.heights)
        for variant in (Variant({}), Variant({}, alone=True)):
            found.append(maker.make(variants.steps(variant), keep_copies=False).plan)
    return min(found, key=_rank)


def without_idle_steps(
    graph: Graph, roots: tuple[Scope, ...], plan: Plan, seconds: float = inf
) -> Plan:
    """The program of this graph without steps that change nothing in the end, which takes about so
    many seconds at most."""
    steps = list(plan.steps)
    while steps and steps[-1].witness.folds:  # made anew
        steps.pop()
    way = _Way(plan, tuple(steps), _Maker(graph, roots, Heights()))
    return _shortened(way, _Limits(EFFORT // 10, perf_counter() + seconds), lambda: None)[0]


def _collect(
    ways: dict[object, _Way],
    graph: Graph,
    roots: tuple[Scope, ...],
    limits: _Limits,
    check: Callable[[], None],
) -> None:
    """Adds the programs of the variants.

    Where the best one has an operator that does the work of several stages, there are programs
    without it as well: its stages one by one may turn out faster than predicted."""
    heights = Heights()
    while True:
        check()
        found: dict[tuple[Scope, ...], _Way] = {}
        maker = _Maker(graph, roots, heights)
        try:
            _try_variants(found, maker, limits, check)
        finally:
            for way in found.values():
                ways.setdefault(way.plan.kernels, way)
        best = min((way.plan for way in found.values()), key=_rank)
        past = {stage.operator for stage in best.stages if stage.operator and stage.reads_past}
        if not past:
            return
        graph = graph.without(past)


def _try_variants(
    found: dict[tuple[Scope, ...], _Way],
    maker: _Maker,
    limits: _Limits,
    check: Callable[[], None],
) -> None:
    """Adds the programs of the variants, each once, by the shortest way."""
    graph, roots = maker.graph, maker.roots
    tried: set[tuple[Scope, ...]] = set()
    for padding_free in (True, False):
        check()
        best = choices(graph, roots, padding_free=padding_free)
        variants = Variants(graph, roots, best, maker.heights)
        spent = 0
        for variant in variants:
            if spent and limits.reached(spent):
                graph.pruned[NOT_TRIED] += 1
                variants.far = False
                continue
            check()
            steps = variants.steps(variant)
            after = tuple([step.after for step in steps])
            if after in tried:
                continue
            tried.add(after)
            for keep_copies in (False, True):
                way = maker.make(steps, keep_copies)
                plan = way.plan
                spent += len(plan.stages)
                known = found.get(plan.roots)
                if known is None or len(plan.steps) < len(known.plan.steps):
                    found[plan.roots] = way
                if not keep_copies and not any(step.witness.makes_views for step in steps):
                    break


def _shortened(way: _Way, limits: _Limits, check: Callable[[], None]) -> tuple[Plan, int]:
    """The plan without steps that change nothing in the end: each is left out in turn, with those
    that then no longer apply, where the same stages result.  Also the effort spent on that."""
    maker, position, spent = way.maker, 0, 0
    pruned = maker.graph.pruned
    keep_copies = any(is_copy(stage.scope) for stage in way.plan.stages)
    labour = _labour(way.plan)
    while position < len(way.chosen):
        if way.chosen[position].witness.folds:  # these follow from the others
            position += 1
            continue
        if limits.reached(spent):
            pruned[NOT_SHORTENED] += len(way.chosen) - position
            break
        check()
        spent += len(way.plan.stages)
        rest = [*way.chosen[:position], *way.chosen[position + 1 :]]
        shorter = maker.make(rest, keep_copies)
        if len(shorter.plan.steps) < len(way.plan.steps) and _labour(shorter.plan) == labour:
            pruned["steps that changed nothing in the end"] += 1
            way = shorter
        else:
            position += 1
    return way.plan, spent


def _rank(plan: Plan) -> tuple[float, int]:
    return plan.seconds, len(plan.steps)


def _without_detours(graph: Graph, ranked: list[Plan]) -> list[Plan]:
    """The programs with the shortest derivations, among those whose stages have the same operators
    at the same cost, views apart."""
    shortest: dict[object, Plan] = {}
    for plan in ranked:
        work = _labour(plan)
        known = shortest.get(work)
        if known is not None:
            graph.pruned["the same stages by more steps"] += 1
        if known is None or len(plan.steps) < len(known.steps):
            shortest[work] = plan
    return [plan for plan in ranked if plan in shortest.values()]


def _labour(plan: Plan) -> object:
    """The operators of the stages and what they cost, views apart."""
    return tuple(sorted((s.operator or "", round(s.seconds, 9)) for s in plan.stages if s.seconds))


def _with_repairs(graph: Graph, listed: list[Plan]) -> list[Plan]:
    """The cheapest program that repairs what it multiplies out among the first two: it stands where
    hard data refuse the others, however many these are."""
    names = {operator.name for operator in graph.operators if operator.repairs}
    for place, plan in enumerate(listed):
        if any(stage.operator in names for stage in plan.stages):
            rest = [*listed[:place], *listed[place + 1 :]]
            return listed if place < 2 else [rest[0], plan, *rest[1:]]
    return listed


def _idea(plan: Plan) -> object:
    operators = tuple(sorted(stage.operator or "" for stage in plan.stages))
    rules = Counter(step.rule for step in plan.steps if not step.witness.folds)
    return operators, tuple(sorted(rules.items()))


def unchanged(graph: Graph, roots: tuple[Scope, ...]) -> Plan:
    """The plan without any step: the roots as they are, without folding, and without operators that
    multiply out."""
    chosen = used_stages(graph, roots)
    repairing = {operator.name for operator in graph.operators if operator.repairs}
    if any(stage.operator in repairing for stage in chosen):
        plain = [operator for operator in graph.operators if not operator.repairs]
        chosen = used_stages(replace(graph, operators=plain, stages={}), roots)
    return Plan(roots, (), chosen, sum(stage.seconds for stage in chosen))


def used_stages(graph: Graph, roots: tuple[Scope, ...]) -> tuple[Stage, ...]:
    """The stages that the program runs, producers first (an operator may read past a nested
    scope, straight from its sources)."""
    needed = reached(roots, lambda scope: graph.stage(scope).reads)
    return tuple(
        graph.at_each_call(scope) if scope in roots else graph.stage(scope)
        for scope in stages(*roots)
        if scope in needed
    )
