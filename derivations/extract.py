"""From the explored graph to programs: choices for each scope replayed, then views folded."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from derivations import kernel
from derivations.choice import Choice, choices
from derivations.graph import Graph, Stage, producers
from derivations.kernel import Step
from derivations.restructure import Merge, reads
from ta.errors import RuleRefused
from ta.node import Access, Scope, Select
from ta.subst import nested_scopes, replace_sources, stages, walk

HOPELESS = 30.0
"""Programs predicted to take this many times the best one's time, and longer than the program as
given, are not listed."""
COMPARABLE = 1.5
"""A step is tried in the variants when it costs at most this many times the best choice."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A complete staged program equal to the given roots, with the steps that lead to it."""

    roots: tuple[Scope, ...]
    steps: tuple[Step, ...]
    stages: tuple[Stage, ...]
    seconds: float


def plans(graph: Graph, roots: tuple[Scope, ...], most: int = 16) -> tuple[Plan, ...]:
    """Up to `most` different programs for the roots, the cheapest first.

    Besides the overall best, each step from a root, and then each step of comparable cost from a
    scope on such a path, is taken in turn and the rest chosen as best.  Of programs with the same
    operators reached by the same rules, the best stands first and the others behind all the rest,
    so that the list shows different ideas rather than variations of one."""
    found = _with_and_without(graph, roots)
    ranked = sorted([plan for plan, _ in found.values()], key=_rank)
    worst = max(HOPELESS * ranked[0].seconds, unchanged(graph, roots).seconds)
    graph.pruned["programs predicted to be far slower"] += sum(p.seconds > worst for p in ranked)
    ranked = [plan for plan in ranked if plan.seconds <= worst]
    kept = _without_detours(graph, ranked)
    first: dict[object, Plan] = {}
    for plan in kept:
        first.setdefault(_idea(plan), plan)
    fresh = list(first.values())
    listed = (fresh + [plan for plan in kept if plan not in fresh])[:most]
    return tuple(_shortened(found[_kernels(plan)][1], roots, plan) for plan in listed)


def _with_and_without(graph: Graph, roots: tuple[Scope, ...]) -> dict[object, tuple[Plan, Graph]]:
    """The programs of the variants, each with the graph that chose its operators.

    Where the best one has an operator that does the work of several stages, there are programs
    without it as well: its stages one by one may turn out faster than predicted."""
    found: dict[object, tuple[Plan, Graph]] = {}
    while True:
        plans = _found(graph, roots)
        found = {_kernels(plan): (plan, graph) for plan in plans} | found
        past = {s.operator for s in min(plans, key=_rank).stages if s.operator and s.reads_past}
        if not past:
            return found
        graph = graph.without(past)


def _rank(plan: Plan) -> tuple[float, int]:
    return plan.seconds, len(plan.steps)


def _kernels(plan: Plan) -> object:
    """The program, and what its stages run."""
    return plan.roots, tuple([(stage.scope, stage.operator) for stage in plan.stages])


def _found(graph: Graph, roots: tuple[Scope, ...]) -> list[Plan]:
    """The programs of the variants, each once, by the shortest way."""
    found: dict[tuple[Scope, ...], Plan] = {}
    tried: set[tuple[Scope, ...]] = set()
    for padding_free in (True, False):
        best = choices(graph, roots, padding_free=padding_free)
        for steps in _variants(graph, roots, best):
            chain = tuple([step.after for step in steps])
            if chain in tried:
                continue
            tried.add(chain)
            for keep_copies in (False, True):
                plan = _finish(graph, roots, steps, keep_copies)
                known = found.get(plan.roots)
                if known is None or len(plan.steps) < len(known.steps):
                    found[plan.roots] = plan
                if not keep_copies and not any(step.rule == "materialise" for step in steps):
                    break
    return list(found.values())


def _shortened(graph: Graph, roots: tuple[Scope, ...], plan: Plan) -> Plan:
    """The plan without steps that change nothing in the end: each is left out in turn, with those
    that then no longer apply, where the same stages result."""
    position = 0
    keep_copies = any(_copies(stage.scope) for stage in plan.stages)
    while position < len(plan.steps):
        if plan.steps[position].rule != "merge-stage":  # merges follow from the others
            rest = [*plan.steps[:position], *plan.steps[position + 1 :]]
            shorter = _finish(graph, roots, rest, keep_copies)
            if len(shorter.steps) < len(plan.steps) and _labour(shorter) == _labour(plan):
                graph.pruned["steps that changed nothing in the end"] += 1
                plan = shorter
                continue
        position += 1
    return plan


def _without_detours(graph: Graph, ranked: list[Plan]) -> list[Plan]:
    """Of programs whose stages have the same operators at the same cost, views apart, the one that
    took the fewest steps."""
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


def _idea(plan: Plan) -> object:
    operators = tuple(sorted(stage.operator or "" for stage in plan.stages))
    rules = Counter(step.rule for step in plan.steps if step.rule != "merge-stage")
    return operators, tuple(sorted(rules.items()))


def unchanged(graph: Graph, roots: tuple[Scope, ...]) -> Plan:
    """The roots as they are: the plan without a step, also without folding."""
    chosen = used_stages(graph, roots)
    return Plan(roots, (), chosen, sum(stage.seconds for stage in chosen))


def _variants(
    graph: Graph, roots: tuple[Scope, ...], best: dict[Scope, Choice]
) -> Iterator[list[Step]]:
    main = _steps(graph, roots, best, {})
    yield main
    yield []
    paths = {(): main} | {
        ((root, step),): _steps(graph, roots, best, {root: step})
        for root in roots
        for step in graph.edges.get(root, ())
        if step.after in best
    }
    for joint in graph.joints:
        yield _steps(graph, roots, best, joint)
    least = sum(best[root].seconds for root in roots)
    for forced, path in paths.items():
        yield path
        yield [step for _, step in forced]  # and nothing else: a copy stays one
        cost = sum(best[forced_step.after].seconds for _, forced_step in forced) or least
        if cost > COMPARABLE * least:
            continue
        for scope in dict.fromkeys(step.after for step in path):
            for nested in producers(scope):
                for step in graph.edges.get(nested, ()):
                    after = best.get(step.after)
                    if after and after.seconds < COMPARABLE * best[nested].seconds:
                        yield _steps(graph, roots, best, {**dict(forced), nested: step})


def _steps(
    graph: Graph,
    roots: tuple[Scope, ...],
    best: dict[Scope, Choice],
    forced: dict[Scope, Step],
) -> list[Step]:
    """The chosen steps in order: a scope's own come after those of all scopes that hold it, whose
    left sides show it as it was."""
    steps: list[Step] = []
    heights: dict[Scope, int] = {}
    chains: dict[Scope, frozenset[Scope]] = {}
    waiting: list[tuple[int, int, Scope]] = []

    def wait(scope: Scope, chain: frozenset[Scope]) -> None:
        if scope not in chains:
            chains[scope] = chain | {scope}
            heapq.heappush(waiting, (-_height(scope, heights), len(chains), scope))

    for root in roots:
        wait(root, frozenset())
    while waiting:
        _, _, scope = heapq.heappop(waiting)
        step = forced.get(scope) or (best[scope].step if scope in best else None)
        if step is None or step.after in chains[scope]:
            for read in graph.stage(scope).reads:
                wait(read, frozenset())
        else:
            steps.append(step)
            wait(step.after, chains[scope])
    return steps


def _height(scope: Scope, known: dict[Scope, int]) -> int:
    """How deep scopes are nested in the scope: 1 where none is."""
    if scope not in known:
        for stage in stages(scope):
            known[stage] = 1 + max((known[s] for s in nested_scopes(stage)), default=0)
    return known[scope]


def _finish(
    graph: Graph, roots: tuple[Scope, ...], steps: list[Step], keep_copies: bool = False
) -> Plan:
    """Replay the steps on the roots, then fold the views they left into their readers.

    With `keep_copies`, a view that shows elements several times stays where folding it would make
    another library operator of its reader: im2col then remains a copy and a matrix product, and
    does not turn back into the convolution."""
    applied: list[Step] = []
    for step in steps:
        if step.before in stages(*roots):
            changed = replace_step(roots, step)
            if changed != roots:
                roots = changed
                applied.append(step)
    roots, folds = fold_views(graph, roots, keep_copies)
    chosen = used_stages(graph, roots)
    return Plan(roots, (*applied, *folds), chosen, sum(stage.seconds for stage in chosen))


def replace_step(roots: tuple[Scope, ...], step: Step) -> tuple[Scope, ...]:
    """The roots with the step applied wherever its scope occurs in them."""
    return tuple(replace_sources(root, {step.before: step.after}) for root in roots)


def fold_views(
    graph: Graph, roots: tuple[Scope, ...], keep_copies: bool = False
) -> tuple[tuple[Scope, ...], list[Step]]:
    """Readers of views, and the only reader of another scope without a reduction, read what these
    are made of instead, where that does not cost more."""
    steps: list[Step] = []
    while True:
        order = stages(*roots)
        readers = Counter(nested for stage in order for nested in nested_scopes(stage))
        readers.update(roots)
        found = (_fold(graph, stage, readers, keep_copies) for stage in order)
        step = next((step for step in found if step is not None), None)
        if step is None:
            return roots, steps
        roots = replace_step(roots, step)
        steps.append(step)


def _fold(graph: Graph, scope: Scope, readers: Counter[Scope], keep_copies: bool) -> Step | None:
    guarded = _selects(scope)
    for position, access in enumerate(reads(scope)):
        source = access.source
        if not isinstance(source, Scope) or source.sums:
            continue
        if readers[source] > 1 and not isinstance(source.body, Access):
            continue  # it would be computed for the other reader all the same
        witness = Merge(position)
        try:
            after = kernel.apply(scope, witness, exact=False)
        except RuleRefused:
            continue
        if _selects(after) > guarded:
            continue
        becomes = graph.stage(after).operator
        if keep_copies and _copies(source) and becomes not in (None, graph.stage(scope).operator):
            continue
        merged = graph.stage(scope).seconds + graph.stage(source).seconds
        if graph.estimate(after) <= graph.estimate(scope) + 0.05 * merged + 1e-9:
            step = Step("merge-stage", scope, after, witness)
            if graph.allows(step):
                return step
    return None


def _copies(scope: Scope) -> bool:
    """Whether the scope is one read that shows elements of its source several times."""
    body = scope.body
    return not scope.sums and isinstance(body, Access) and scope.size > body.source.size


def _selects(scope: Scope) -> int:
    return sum(isinstance(node, Select) for node in walk(scope.body))


def used_stages(graph: Graph, roots: tuple[Scope, ...]) -> tuple[Stage, ...]:
    """The stages that the program runs, producers first (an operator may read past a nested
    scope, straight from its sources)."""
    needed: set[Scope] = set()
    pending = list(roots)
    while pending:
        scope = pending.pop()
        if scope not in needed:
            needed.add(scope)
            pending.extend(graph.stage(scope).reads)
    return tuple(graph.stage(scope) for scope in stages(*roots) if scope in needed)
