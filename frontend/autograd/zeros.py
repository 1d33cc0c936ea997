"""Operands whose gradient is 0, and those that have none.

    Y[i] = floor(x[i])      dx = 0           Y[i] = where(x[i] > 0, a[i], 0)      no gradient by x

torch gives zeros where each function on the way has a derivative, even one that is 0 everywhere,
and None where a comparison cuts the way.
"""

from __future__ import annotations

from collections.abc import Iterable

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Access, Apply, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import fold, stages


def depended_on(roots: Iterable[Scope]) -> frozenset[Tensor]:
    """The tensors by which torch differentiates the scopes, types apart."""
    roots = tuple(roots)
    known: dict[Source, frozenset[Tensor]] = {}

    def of_node(node: Node, parts: tuple[frozenset[Tensor], ...]) -> frozenset[Tensor]:
        if isinstance(node, Access):
            source = node.source
            return frozenset([source]) if isinstance(source, Tensor) else known[source]
        if isinstance(node, Apply):
            function = FUNCTIONS[node.function]
            if function.truth:
                return frozenset()
            parts = parts[1:] if function.picks else parts
        return frozenset().union(*parts)

    for scope in stages(*roots):
        known[scope] = fold(scope.body, of_node)
    return frozenset().union(*(known[root] for root in roots))
