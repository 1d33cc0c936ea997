"""The progress of a search, in a few numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from einderive.derivations.search.choice import choices
from einderive.derivations.search.graph import Graph
from einderive.ta.ir.node import Scope


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search: the argument of the function given as `derive(..., progress=...)`.

    - `seconds`: the time since the search began.
    - `states`: the number of distinct expressions seen.
    - `expanded`, `waiting`: how many of them are expanded, and how many are still to be expanded.
      `waiting` is 0 at the end, while programs are chosen.
    - `best`: the predicted seconds of the cheapest program so far.  A stage with several readers
      counts once for each of them.
    - `share`: the used part of the budget, from 0 to 1.
    - `graph`: the graph of the search.  The search continues to change it after the call; do not
      modify it.
    """

    seconds: float
    states: int
    expanded: int
    waiting: int
    best: float
    share: float
    graph: Graph | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return (
            f"{self.seconds:.1f} s: {self.states} expressions, {self.expanded} expanded, "
            f"{self.waiting} waiting, best {self.best:.3g} s, {self.share:.0%} of the budget"
        )


Watch: TypeAlias = Callable[[Callable[[], Progress]], None]
"""A function that is called now and then during a search.  Its argument computes the numbers when
they are wanted."""


def best_seconds(graph: Graph, roots: tuple[Scope, ...]) -> float:
    """The predicted seconds of the cheapest ways to the roots."""
    found = choices(graph, roots)
    return sum(found[root].seconds for root in dict.fromkeys(roots))
