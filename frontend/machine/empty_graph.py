"""A graph without rules, in which the stages of a program get their operators and predictions."""

from __future__ import annotations

from einderive.derivations.search.graph import Graph, default_item_bytes
from einderive.frontend.derived import Derived
from einderive.frontend.machine.stored import profile_of
from einderive.frontend.strict import operators_for
from einderive.ta.ir.node import Scope


def empty_graph(derivation: Derived, roots: tuple[Scope, ...]) -> Graph:
    """The graph for programs of these outputs, under the options of the derivation."""
    operators = operators_for(derivation.nan, derivation.target)
    item, weights = default_item_bytes(roots), frozenset(derivation.weights)
    return Graph((), operators, profile_of(derivation.target), item, weights=weights)
