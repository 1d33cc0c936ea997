"""Terms whose value may be an infinite number of the text.

    A{fill=inf}[i-1]*B[i]        may be infinite: the fill
    max[k:0:0](A[k])             is infinite: a maximum over an empty range
    relu(A{fill=inf}[i-1])       may be infinite, as every function that compares
    exp(A{fill=inf}[i-1])        counts as finite, as all other functions and inputs do

The distributive law needs this: inf*(a + b) has a value where inf*a + inf*b has none.
"""

from __future__ import annotations

from functools import lru_cache

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Access, Apply, Node, Scope
from einderive.ta.ir.subst import branches, children, is_infinite, producers, reduces_nothing, walk


def may_be_infinite(node: Node) -> bool:
    """Whether the value may be an infinite number of the expression or of a scope that it reads."""
    for scope in producers(node):
        _infinite(scope)
    return _infinite(node)


@lru_cache(maxsize=1 << 14)
def meets_infinity(scope: Scope) -> bool:
    """Whether some part of the scope's body may be infinite."""
    return any(map(may_be_infinite, walk(scope.body)))


@lru_cache(maxsize=1 << 16)
def _infinite(node: Node) -> bool:
    if is_infinite(node):
        return True
    if isinstance(node, Access):
        return isinstance(node.source, Scope) and _infinite(node.source)
    if isinstance(node, Scope):
        return reduces_nothing(node) or _infinite(node.body)
    if chosen := branches(node):
        return any(map(_infinite, chosen))
    if isinstance(node, Apply) and not FUNCTIONS[node.function].compares:
        return False
    return any(map(_infinite, children(node)))
