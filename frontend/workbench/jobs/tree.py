"""The tree of a search while it grows, in small pieces: what is new since the last look.

Nothing is asked of the graph that it does not know already: a look leaves the search as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from einderive.derivations.search.explore import converges, explored_after
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import Graph
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages

MOST = 20_000
"""States that are drawn."""
GIVEN, READ, CONVERGING, EXPLORATIVE = range(4)
"""How a state was reached."""
DIGITS = 4
Row = tuple[int, int, str, str, float, float]
"""The state's parent, or -1; how it was reached; the rule; its nearest operator; the predicted
seconds as one stage, -1 where they are not known; the distance."""


class Grown:
    """Numbers the states of one search in the order in which steps reach them."""

    def __init__(self, roots: Sequence[Scope]) -> None:
        self.number: dict[Scope, int] = {}
        self._given = stages(*roots)
        self._seen = 0

    def more(self, graph: Graph) -> list[Row]:
        """The states since the last look, parents before their children."""
        found: list[Row] = []
        if not self.number:
            for scope in reversed(self._given):
                self._add(found, graph, scope, -1, GIVEN, "")
        for scope, steps in islice(graph.edges.items(), self._seen, None):
            self._seen += 1
            for step in steps:
                if scope in self.number and step.after not in self.number:
                    closer = converges(graph, step, explored_after(step))
                    way = CONVERGING if closer else EXPLORATIVE
                    self._add(found, graph, step.after, self.number[scope], way, step.rule)
                    self._read(found, graph, step.after)
        return found

    def on_the_way(self, plan: Plan) -> list[int]:
        """The numbers of the states that lead to a program, and of its stages."""
        way: Iterable[Scope] = (each for step in plan.steps for each in (step.before, step.after))
        scopes = dict.fromkeys([*way, *(stage.scope for stage in plan.stages)])
        return [self.number[scope] for scope in scopes if scope in self.number]

    def _read(self, found: list[Row], graph: Graph, scope: Scope) -> None:
        """What a state reads, and what that reads, hangs below it."""
        for read in nested_scopes(scope):
            if read not in self.number and scope in self.number:
                self._add(found, graph, read, self.number[scope], READ, "")
                self._read(found, graph, read)

    def _add(
        self, found: list[Row], graph: Graph, scope: Scope, parent: int, way: int, rule: str
    ) -> None:
        if scope in self.number or len(self.number) >= MOST:
            return
        self.number[scope] = len(self.number)
        stage = graph.stages.get(scope)
        if stage is None:
            found.append((parent, way, rule, "", -1.0, 0.0))
            return
        name = stage.operator or stage.nearest or ""
        seconds = float(f"{stage.seconds:.{DIGITS}g}")
        found.append((parent, way, rule, name, seconds, float(stage.distance)))
