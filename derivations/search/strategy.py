"""The protocol of a strategy: it decides which scopes of the graph are expanded, in which order.

A strategy receives the graph (with its rules, operators and costs), the given program and the
budget.  It expands one scope after the other; `graph.expand` gives the steps from a scope.  Before
each expansion it yields how far it is, and the search may end there.

Programs consist of steps in the graph.  The kernel has proved each of these, and the cost chooses
among the programs.  So a strategy decides which programs are found, and has no part in their
correctness.
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
    """Limits of one search.

    - `states`: the largest number of distinct scopes in the search.
    - `effort`: the largest effort of a chain of steps.
    - `seconds`: wall-clock seconds; None means no limit.  With a limit in seconds, the result
      depends on the machine.

    Two further fields are for experiments with the search:

    - `converging_effort`: the effort of a converging step.  With 1, all steps have the same effort.
    - `keep_duplicates`: a scope is expanded again for every path that reaches it, and `states`
      limits the number of such paths."""

    states: int = 3000
    effort: float = 5.0
    seconds: float | None = None
    converging_effort: float = CONVERGING_EFFORT
    keep_duplicates: bool = False


class Expansion(NamedTuple):
    """The state of a strategy before it expands another scope: the numbers of distinct scopes that
    are expanded and that wait, and `seen`, the number that the budget of states limits."""

    expanded: int
    waiting: int
    seen: int


class Strategy(Protocol):
    """Expands scopes within the budget's effort, and ends when no scope is left to expand."""

    def __call__(
        self, graph: Graph, roots: tuple[Scope, ...], budget: Budget
    ) -> Iterator[Expansion]: ...
