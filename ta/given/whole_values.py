"""Terms whose values are integers, by the types of what they read.

I[i] // 2 + 3        an integer, if I holds integers
M[i] < 0             a bool
I[i] / 2             may be none
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Apply, Const, Node, Number, Power, Scope, Tensor
from einderive.ta.ir.subst import branches, children, producers

NO_INTEGER, INTEGER, BOOL = range(3)
NARROW = frozenset(("bool", "uint8", "int8", "int16", "int32"))
"""Types of integers whose sums and products are of another one, int64."""


def whole_kind(node: Node, box: Sequence[Range] = ()) -> int:
    """What all values of the term over the box, or of the scope, are known to be."""
    for stage in producers(node):
        _of_scope(stage)
    return _of_scope(node) if isinstance(node, Scope) else _kind(node, tuple(box))


@lru_cache(maxsize=1 << 12)
def _kind(node: Node, box: tuple[Range, ...]) -> int:
    if isinstance(node, Const):
        return _of_number(node.value)
    if isinstance(node, Access):
        source = node.source
        inside = _of_type(source.dtype) if isinstance(source, Tensor) else _of_scope(source)
        here = affine.within(node.rows, source.ranges, box)
        return inside if here else min(inside, _of_number(node.fill))
    if chosen := branches(node):
        return min(_kind(each, box) for each in chosen)
    known = FUNCTIONS[node.function] if isinstance(node, Apply) else None
    if known is not None and known.truth:
        return BOOL
    if isinstance(node, Power) and node.exponent < 0:
        return NO_INTEGER
    if known is not None and not known.keeps_integers:
        return NO_INTEGER
    least = min((_kind(each, box) for each in children(node)), default=NO_INTEGER)
    digits = known is not None and known.digits and known.symmetric
    return least if digits else min(least, INTEGER)


def _of_type(dtype: str) -> int:
    return BOOL if dtype == "bool" else INTEGER if dtype.startswith(("int", "uint")) else NO_INTEGER


def _of_number(value: Number) -> int:
    whole = isinstance(value, Fraction) and value.denominator == 1
    return BOOL if value in (0, 1) else INTEGER if whole else NO_INTEGER


@lru_cache(maxsize=1 << 12)
def _of_scope(scope: Scope) -> int:
    if scope.empty:
        return NO_INTEGER
    found = _kind(scope.body, scope.domain)
    return found if not scope.sums or scope.reducer in ("max", "min") else min(found, INTEGER)
