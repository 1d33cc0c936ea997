"""Expressions as a text that does not depend on names of iterators: each node once, by number.

    Y[i] = A[i,k]*A[i,k]     #0 Tensor A ..., #1 Access (#0, ...), #2 Power (#1, 2), #3 Scope (...)

Two expressions have the same text only if they are the same node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from einderive.ta.ir.node import Node


def structure(roots: Sequence[Node], given: Mapping[Node, str] = MappingProxyType({})) -> str:
    """The nodes, each after those that it reads, and the numbers of the roots.  Nodes that are
    `given` a name stand as this name."""
    numbers: dict[Node, int] = {}
    lines: list[str] = []

    def named(value: Any) -> str:
        if isinstance(value, Node):
            return given.get(value) or f"#{number(value)}"
        if isinstance(value, tuple):
            return f"({','.join(map(named, value))})"
        return repr(value)

    def number(node: Node) -> int:
        if node not in numbers:
            fields = [named(getattr(node, name)) for name in type(node).__slots__]
            lines.append(f"{type(node).__name__} {' '.join(fields)}")
            numbers[node] = len(numbers)
        return numbers[node]

    last = named(tuple(roots))
    return "\n".join([*lines, last])
