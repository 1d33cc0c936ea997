"""The choices from which programs are put together: the best ones, and others that are forced in
turn."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from einderive.derivations.search.choice import Choice
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.replay import Heights
from einderive.derivations.steps.kernel import Step
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes

COMPARABLE = 1.5
"""A step is tried in the variants if it costs at most this many times the best choice."""


class Variant(NamedTuple):
    """Forced steps.  The other steps are chosen as best, or there are no others."""

    forced: Mapping[Scope, Step]
    alone: bool = False


class Variants:
    """The variants for the roots under one choice of the cheapest ways."""

    def __init__(
        self, graph: Graph, roots: tuple[Scope, ...], best: Mapping[Scope, Choice], heights: Heights
    ) -> None:
        self._graph, self._roots, self._best, self._heights = graph, roots, best, heights
        self.far = True

    def __iter__(self) -> Iterator[Variant]:
        """The variants in order:

        - the best choice, and the roots as they are;
        - the joint steps, with others and alone;
        - paths: the best one, the one that begins with all opening steps, and those that begin with
          a step from a root;
        - for each path of comparable cost, the paths with each step of comparable cost from a scope
          on it. These are left out if `far` is off.
        """
        yield Variant({})
        yield Variant({}, alone=True)
        for joint in self._graph.joints:
            yield Variant(joint)
            yield Variant(joint, alone=True)
        least = sum(self._best[root].seconds for root in self._roots)
        opened = {
            scope: step for scope, step in self._graph.opened.items() if step.after in self._best
        }
        for forced in ({}, *([opened] if opened else []), *self._from_roots()):
            yield Variant(forced)
            yield Variant(forced, alone=True)  # a copy stays one
            cost = sum(self._best[step.after].seconds for step in forced.values()) or least
            if self.far and cost <= COMPARABLE * least:
                yield from self._along(forced)

    def _along(self, forced: Mapping[Scope, Step]) -> Iterator[Variant]:
        best, edges = self._best, self._graph.edges
        for scope in dict.fromkeys(step.after for step in self.steps(Variant(forced))):
            for nested in nested_scopes(scope):
                for step in edges.get(nested, ()):
                    after = best.get(step.after)
                    if after and after.seconds < COMPARABLE * best[nested].seconds:
                        yield Variant({**forced, nested: step})

    def _from_roots(self) -> Iterator[dict[Scope, Step]]:
        for root in self._roots:
            for step in self._graph.edges.get(root, ()):
                if step.after in self._best:
                    yield {root: step}

    def steps(self, variant: Variant) -> list[Step]:
        """The steps in order.  The steps of a scope come after those of all scopes that hold it,
        whose left sides show it as it was."""
        if variant.alone:
            return list(variant.forced.values())
        steps: list[Step] = []
        chains: dict[Scope, frozenset[Scope]] = {}
        waiting: list[tuple[int, int, Scope]] = []

        def wait(scope: Scope, chain: frozenset[Scope]) -> None:
            if scope not in chains:
                chains[scope] = chain | {scope}
                heapq.heappush(waiting, (-self._heights.of(scope), len(chains), scope))

        for root in self._roots:
            wait(root, frozenset())
        while waiting:
            _, _, scope = heapq.heappop(waiting)
            known = self._best.get(scope)
            step = variant.forced.get(scope) or (known.step if known else None)
            if step is None or step.after in chains[scope]:
                for read in self._graph.stage(scope).reads:
                    wait(read, frozenset())
            else:
                steps.append(step)
                wait(step.after, chains[scope])
        return steps
