"""The cheapest way to each scope of the explored graph.

    best(S) = min( stage(S) + sum of best(reads of S) ;  best(S') for every step S = S' )

computed as a fixed point (costs are not negative, so cycles of equal scopes do no harm).  A stage
that several read is counted for each of them: what a whole program costs is worked out on it
(`derivations.search.extract`).
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from einderive.derivations.matching.cost import is_free_view
from einderive.derivations.search.graph import Graph, Stage
from einderive.derivations.steps.kernel import Step
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.subst import nested_scopes, reached


class Choice(NamedTuple):
    """The best known way to a scope.  `step` leads to an equal scope; None means to compute the
    scope as it is.  `steps` is the number of steps on the way."""

    seconds: float
    step: Step | None
    steps: int = 0

    def loses(self, seconds: float, steps: int) -> bool:
        """Whether the other way is cheaper, or as cheap with fewer steps."""
        if abs(seconds - self.seconds) <= 1e-9 * self.seconds:
            return steps < self.steps
        return seconds < self.seconds


def choices(
    graph: Graph, roots: tuple[Scope, ...], *, padding_free: bool = True
) -> dict[Scope, Choice]:
    """The fixed point over all scopes of the graph.

    A view costs nothing if its reader can fold it into its own rows.  A root has no reader, so
    there a view is a stage.  If the view leaves its source, its cost depends on the reader: a
    convolution pads by itself, a product needs a copy.  Such a view counts as free if
    `padding_free` is set, and as a stage otherwise.
    """
    within = _reachable(graph, roots)
    scopes = [scope for scope in graph.stages if scope in within]
    best = {scope: Choice(graph.estimate(scope), None) for scope in scopes}
    ends = frozenset(roots)
    ways = {scope: _ways(graph, scope, scope in ends, best, padding_free) for scope in scopes}
    place = {scope: number for number, scope in enumerate(scopes)}
    users: list[list[int]] = [[] for _ in scopes]
    for number, scope in enumerate(scopes):
        for used in (*graph.stages[scope].reads, *(source for _, source in ways[scope])):
            if used in place:
                users[place[used]].append(number)
    waiting = list(range(len(scopes)))  # what may have become cheaper, in rounds by place
    while waiting:
        later: set[int] = set()
        queued = set(waiting)
        heapq.heapify(waiting)
        while waiting:
            number = heapq.heappop(waiting)
            queued.discard(number)
            scope = scopes[number]
            choice = _improved(graph.stages[scope], best, ways[scope])
            if choice is best[scope]:
                continue
            best[scope] = choice
            for user in users[number]:
                if user <= number:
                    later.add(user)
                elif user not in queued:
                    queued.add(user)
                    heapq.heappush(waiting, user)
        waiting = list(later)
    return best


def _improved(
    stage: Stage, best: Mapping[Scope, Choice], ways: Sequence[tuple[Step, Scope]]
) -> Choice:
    """The choice for the stage's scope under the choices for what it depends on."""
    known = best[stage.scope]
    seconds, steps = stage.seconds, 0
    for read in stage.reads:
        if read in best:
            seconds += best[read].seconds
            steps += best[read].steps
    if known.loses(seconds, steps):
        known = Choice(seconds, None, steps)
    for step, source in ways:
        after = best[source]
        if known.loses(after.seconds, after.steps + 1):
            known = Choice(after.seconds, step, after.steps + 1)
    return known


def _reachable(graph: Graph, roots: tuple[Scope, ...]) -> Container[Scope]:
    """The scopes that a program for the roots may read."""

    def below(scope: Scope) -> Iterator[Scope]:
        if scope in graph.stages:
            yield from graph.stages[scope].reads
            yield from nested_scopes(scope)
            yield from (step.after for step in graph.edges.get(scope, ()))

    ends = [*roots, *(step.after for joint in graph.joints for step in joint.values())]
    ends += [step.after for step in graph.opened.values()]  # also where none is expanded
    return reached(ends, below)


def _ways(
    graph: Graph, scope: Scope, is_root: bool, known: Container[Scope], padding_free: bool
) -> list[tuple[Step, Scope]]:
    """The steps from the scope, each with the scope whose cost is that of taking it."""
    found = []
    for step in graph.edges.get(scope, ()):
        source = None if is_root else _folded(step.after)
        folds = source in known and (padding_free or is_free_view(step.after))
        target = source if folds and source is not None else step.after
        if step.after in known:
            found.append((step, target))
    return found


def _folded(scope: Scope) -> Scope | None:
    """The scope of which this one is an affine view; None if it is no such view."""
    body = scope.body
    if scope.sums or not isinstance(body, Access) or not isinstance(body.source, Scope):
        return None
    return None if [row for row in body.rows if row.floors] else body.source
