"""What a strategy of exploration is: which scopes of the graph are expanded, and in which order.

A strategy is given the graph, with its rules, operators and costs, the given program, and the
budget.  It expands one scope after the other (`graph.expand` gives the steps from a scope), and
says before each how far it is; there the search may end.  Whatever it does, programs are made of
the graph's steps, each of which the kernel has proved, and chosen by cost: a strategy decides what
is found, not whether it is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from einderive.derivations.search.graph import Graph
from einderive.ta.ir.node import Scope

CONVERGING_EFFORT = 0.25


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


class Expansion(NamedTuple):
    """How far a strategy is before it expands another scope: distinct scopes expanded, scopes that
    wait, and what the budget of states limits."""

    expanded: int
    waiting: int
    seen: int


class Strategy(Protocol):
    """Expands scopes within the budget's effort; ends where nothing is left to expand."""

    def __call__(
        self, graph: Graph, roots: tuple[Scope, ...], budget: Budget
    ) -> Iterator[Expansion]: ...
