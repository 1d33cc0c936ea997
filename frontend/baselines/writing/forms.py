"""Parts of a term, and of a text, as lines need them.

2*x        the factor 2 and x
max(x, 0)  the number 0 and x
(a + b)    a + b
"""

from __future__ import annotations

from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Apply, Const, Node, Number


def bare(text: str) -> str:
    """Without parentheses around the whole."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            whole = text.startswith("(") and place == len(text) - 1
            return text[1:-1] if whole else text
    return text


def bound_of(node: Apply) -> tuple[Number | None, Node | None]:
    """The number and the other operand of a maximum or minimum."""
    left, right = node.args
    if isinstance(left, Const):
        return left.value, right
    return (right.value, left) if isinstance(right, Const) else (None, None)


def parts_of(node: Node) -> tuple[Number, Node]:
    """The constant factor of a term and the rest of it."""
    found: tuple[Number, Node] = split_coefficient(node)
    return found
