"""The cheapest way to each scope of the explored graph.

    best(S) = min( stage(S) + sum of best(reads of S) ;  best(S') for every step S = S' )

computed as a fixed point (costs are not negative, so cycles of equal scopes do no harm).  A stage
that several read is counted for each of them: what a whole program costs is worked out on it
(`derivations.extract`).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from derivations.cost import is_free_view
from derivations.graph import Graph
from derivations.kernel import Step
from ta.node import Access, Scope


@dataclass(frozen=True, slots=True)
class Choice:
    """The best known way to a scope: `step` leads to an equal scope, None computes it as it is;
    `steps` is the number of steps on the way."""

    seconds: float
    step: Step | None
    steps: int = 0

    def loses(self, seconds: float, steps: int) -> bool:
        """Whether the other is cheaper, or as cheap by fewer steps."""
        if abs(seconds - self.seconds) <= 1e-9 * self.seconds:
            return steps < self.steps
        return seconds < self.seconds


def choices(
    graph: Graph, roots: tuple[Scope, ...], *, padding_free: bool = True
) -> dict[Scope, Choice]:
    """The fixed point over all scopes of the graph.

    A view that a reader can fold into its own rows costs that reader nothing; at a root there is no
    reader, so it is a stage.  Where the view leaves its source, that depends on the reader (a
    convolution pads by itself, a product needs a copy): `padding_free` takes it for nothing as
    well, otherwise it is a stage."""
    scopes = list(graph.stages)
    best = {scope: Choice(graph.estimate(scope), None) for scope in scopes}
    direct = {scope: [r for r in graph.stages[scope].reads if r in best] for scope in scopes}
    ways = {scope: _ways(graph, scope, roots, best, padding_free) for scope in scopes}
    changed = True
    while changed:
        changed = False
        for scope in scopes:
            known = best[scope]
            seconds, steps = graph.stages[scope].seconds, 0
            for read in direct[scope]:
                seconds += best[read].seconds
                steps += best[read].steps
            if known.loses(seconds, steps):
                known = best[scope] = Choice(seconds, None, steps)
                changed = True
            for step, source in ways[scope]:
                after = best[source]
                if known.loses(after.seconds, after.steps + 1):
                    known = best[scope] = Choice(after.seconds, step, after.steps + 1)
                    changed = True
    return best


def _ways(
    graph: Graph,
    scope: Scope,
    roots: tuple[Scope, ...],
    known: Container[Scope],
    padding_free: bool,
) -> list[tuple[Step, Scope]]:
    """The steps from the scope, each with the scope whose cost is that of taking it."""
    found = []
    for step in graph.edges.get(scope, ()):
        source = _folded(step.after) if scope not in roots else None
        folds = source in known and (padding_free or is_free_view(step.after))
        target = source if folds and source is not None else step.after
        if step.after in known:
            found.append((step, target))
    return found


def _folded(scope: Scope) -> Scope | None:
    """What the scope is an affine view of, where it is one of another scope."""
    body = scope.body
    if scope.sums or not isinstance(body, Access) or not isinstance(body.source, Scope):
        return None
    return None if any(row.floors for row in body.rows) else body.source
