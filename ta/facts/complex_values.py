"""Terms that may be complex numbers: they read tensors of complex numbers, or hold `1j`.

exp(1j*A[i])       may be complex; so may abs(1j*A[i]), though it is real
"""

from __future__ import annotations

from functools import lru_cache

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Access, Apply, Node, Scope, Tensor
from einderive.ta.ir.subst import children, producers


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
