"""A term as the left side of a law that helps, where what the law requires is known.

exp(log(A[i]))  is  exp(log(x))  for x = A[i], and A > 0 is promised
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from einderive.ta.facts.signs import NOT_NEGATIVE, POSITIVE, UNKNOWN, least_sign
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Apply, Node, Power
from einderive.ta.ir.subst import children, replace_node
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import Law
from einderive.ta.notation.parse import parse

X = expr.access(expr.tensor("x", ()), ())
REQUIRED = {"": UNKNOWN, "x >= 0": NOT_NEGATIVE, "x > 0": POSITIVE}


class Instance(NamedTuple):
    law: Law
    right: Node


def instance(term: Node, box: Sequence[Range]) -> Instance | None:
    """By the first law of which the term is an instance at every point of the box."""
    if not isinstance(term, Apply | Power):
        return None
    for law, left, right in _helping():
        x = _matched(left, term)
        if x is not None and least_sign(x, box) >= REQUIRED[law.domain]:
            return Instance(law, replace_node(right, X, x))
    return None


def _matched(pattern: Node, term: Node) -> Node | None:
    """What x stands for where the term is the pattern, a chain of functions and powers."""
    while pattern is not X:
        if type(pattern) is not type(term) or _head(pattern) != _head(term):
            return None
        ((pattern,), (term,)) = children(pattern), children(term)
    return term


def _head(node: Node) -> str | int | None:
    """The function, or the exponent."""
    if isinstance(node, Apply):
        return node.function
    return node.exponent if isinstance(node, Power) else None


@lru_cache
def _helping() -> tuple[tuple[Law, Node, Node], ...]:
    found = []
    for law in REAL_LAWS.values():
        for equation in law.equations if law.helps else ():
            left, right = map(_body, equation.split(" = "))
            found.append((law, left, right))
    return tuple(found)


def _body(side: str) -> Node:
    (root,) = parse(f"Y = {side}", {"x": ()}, "float32", {}).roots()
    return root.body
