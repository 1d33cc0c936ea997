"""The length of an expression when it is written out.

    length(a*b + f(a)) = 3       the number of reads and constants in the text
    depth(a*b + f(a)) = 2        the number of operations within each other

An expression shares its sub-terms, and a text does not.  With y = x*x + x, z = y*y + y, ..., each
statement doubles the length of the chain as one statement, while the expression grows by a few
nodes.  So the results of rewriting are kept to lengths that can be shown, saved and read back.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from einderive.ta.ir.node import Access, Node, Scope
from einderive.ta.ir.subst import children, fold, stages

MOST_LENGTH = 256
"""Longer bodies are not made from shorter ones: their text, of some ten thousand characters, takes
half a second to read."""
MOST_DEPTH = 40
"""Nor are deeper ones: the notation reads 60 brackets within each other."""


class Written(NamedTuple):
    length: int
    depth: int

    @property
    def short(self) -> bool:
        """Within the limits."""
        return self.length <= MOST_LENGTH and self.depth <= MOST_DEPTH

    def fits(self, *others: Written) -> bool:
        """Within the limits, or no longer and no deeper than one of the others."""
        length = max([MOST_LENGTH, *(other.length for other in others)])
        depth = max([MOST_DEPTH, *(other.depth for other in others)])
        return self.length <= length and self.depth <= depth


@lru_cache(maxsize=1 << 16)
def written(node: Node) -> Written:
    """Length and depth of a scalar expression; a scope that it reads counts as a name."""
    parts = [written(child) for child in children(node)]
    if not parts:
        return Written(1, 0)
    return Written(sum(p.length for p in parts), 1 + max(p.depth for p in parts))


def nested_length(scope: Scope) -> int:
    """The length of the scope with all that it reads written out where it is read."""
    whole: dict[Scope, int] = {}

    def length(node: Node, parts: tuple[int, ...]) -> int:
        if isinstance(node, Access) and isinstance(node.source, Scope):
            return whole[node.source]
        return sum(parts) or 1

    for stage in stages(scope):
        whole[stage] = fold(stage.body, length)
    return whole[scope]
