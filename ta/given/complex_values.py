"""Terms that may be complex numbers: they read tensors of complex numbers, or hold `1j`.

exp(1j*A[i])       may be complex; so may abs(1j*A[i]), though it is real
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Access, Apply, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import branches, children, producers, sources, stages, walk

PARTS: Final = frozenset(("abs", "real", "imag"))
"""Functions that give a real number for a complex one."""


def may_be_complex(node: Node) -> bool:
    """Whether a complex number takes part in the term or in a scope that it reads."""
    for stage in producers(node):
        _complex(stage)
    return _complex(node)


@lru_cache(maxsize=1 << 14)
def _complex(node: Node) -> bool:
    if isinstance(node, Access):
        source = node.source
        if isinstance(source, Tensor):
            return source.dtype.startswith("complex")
        return _complex(source)
    if isinstance(node, Scope):
        return _complex(node.body)
    if isinstance(node, Apply) and FUNCTIONS[node.function].imaginary:
        return True
    return any(map(_complex, children(node)))


def becomes_real(*nodes: Node) -> bool:
    """Whether complex numbers take part, but all values are real numbers: abs(Z[i])*A[i]."""
    for stage in (stage for node in nodes for stage in producers(node)):
        _real(stage)
    return all(map(_real, nodes)) and any(map(may_be_complex, nodes))


def is_real(node: Node) -> bool:
    """Whether all values are real numbers."""
    return not may_be_complex(node) or becomes_real(node)


def is_computed_real(node: Node) -> bool:
    """Whether the term is computed in real numbers: all values are real, or it reads only what is.

    A root of a tensor of real numbers is real, or NaN; the statement that computes the tensor may
    read complex ones."""
    if is_real(node):
        return True
    if any(isinstance(n, Apply) and FUNCTIONS[n.function].imaginary for n in walk(node)):
        return False
    for source in sources(node):
        for stage in stages(source) if isinstance(source, Scope) else ():
            has_real_entries(stage)
    return all(map(has_real_entries, sources(node)))


@lru_cache(maxsize=1 << 14)
def has_real_entries(source: Source) -> bool:
    """Whether the entries are real numbers: by the type of a tensor, or as they are computed."""
    if isinstance(source, Tensor):
        return not source.dtype.startswith("complex")
    return is_computed_real(source.body)


@lru_cache(maxsize=1 << 14)
def _real(node: Node) -> bool:
    if isinstance(node, Access):
        source = node.source
        if isinstance(source, Tensor):
            return not source.dtype.startswith("complex")
        return _real(source)
    if isinstance(node, Scope):
        return _real(node.body)
    if isinstance(node, Apply):
        known = FUNCTIONS[node.function]
        if known.truth or node.function in PARTS:
            return True
        if known.imaginary or not (known.finite_at_numbers or known.beside_nan):
            return False
    return all(map(_real, branches(node) or children(node)))
