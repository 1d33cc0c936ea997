"""Terms that are numbers for all real entries that the assumptions allow: no NaN, no infinity.

exp(A[i]),    1/(1 + A[i]^2),    log(A[i]) where A > 0 is assumed,    not log(A[i])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from einderive.ta.facts.kinds import finite_everywhere
from einderive.ta.facts.signs import NOT_NEGATIVE, POSITIVE, least_sign, not_zero
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Apply, Node, Power, Scope
from einderive.ta.ir.subst import children, is_infinite, producers, reduces_nothing

NEEDS: Final = {
    "log": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "rsqrt": POSITIVE,
    "sqrt": NOT_NEGATIVE,
}
"""The sign that makes the function of a number a number."""


def is_number(node: Node, box: Sequence[Range]) -> bool:
    """Whether the term is a number at every point of the box."""
    for stage in producers(node):
        _is_number(stage, stage.domain)
    return _is_number(node, tuple(box))


@lru_cache(maxsize=1 << 12)
def _is_number(node: Node, box: tuple[Range, ...]) -> bool:
    if finite_everywhere(node):
        return True
    if isinstance(node, Scope):
        return not reduces_nothing(node) and _is_number(node.body, node.domain)
    if is_infinite(node):
        return False
    if isinstance(node, Access) and isinstance(node.source, Scope):
        inside = affine.within(node.rows, node.source.loops, box)
        return inside and _is_number(node.source, node.source.domain)
    if not all(_is_number(child, box) for child in children(node)):
        return False
    if isinstance(node, Power) and node.exponent < 0:
        return not_zero(node.base, box)
    if isinstance(node, Apply) and not FUNCTIONS[node.function].finite_at_numbers:
        return node.function in NEEDS and least_sign(node.args[0], box) >= NEEDS[node.function]
    return bool(children(node))
