"""Parts of a formula that are computed apart, as rounding to float32 would change them.

    x[i]*(i*i % 1009)          i*i in int64: it is above 2^24 from i = 4096 on
    0.001*(t[i+1] - t[i])      the difference of times in int64
    x[i]*cos(2*pi*i*i/n)       the angle in float64: it is known to a rounding of i*i/n

torch and NumPy compute the first two so, operation by operation: integers stay integers until they
meet a floating-point number.  Here a stage has one type, and such parts have their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Final, NamedTuple

from einderive.eops.dtypes import LIMITS, keeps_integers, values
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Source,
    Tensor,
)
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.subst import branches, children

HELD: Final[Mapping[str, float]] = {
    "bfloat16": 2.0**8,
    "float16": 2.0**11,
    "float32": 2.0**24,
    "float64": 2.0**53,
}
"""All whole numbers up to here are numbers of the type."""
LARGE_ANGLE: Final = 64.0
"""Beyond this many radians, an angle in float32 has lost some two digits."""
PERIODIC: Final = ("sin", "cos", "tan")
DIVIDED: Final = ("remainder", "floor_divide", "fmod")
NO_LARGER: Final = (
    *(*DIVIDED, "abs", "sign", "maximum", "minimum", "relu"),
    *("floor", "ceil", "round", "trunc"),
)
"""Functions of numbers that give none of a larger magnitude."""


def part_type(
    node: Node, domain: Sequence[Range], types: Mapping[Source, str], compute: str
) -> str:
    """The type in which a part of a stage is computed that computes in `compute`: this one, unless
    the part would be quite another number in it.  `types` are those of what is read."""
    if compute not in HELD or not may_differ(node, domain):
        return compute
    read = (part.source for part in values(node) if isinstance(part, Access))
    if any(types.get(source, compute) not in LIMITS for source in read):
        return compute
    largest = _Largest(domain, types)
    size = max(map(largest, children(node)))
    if _magnifies(node):
        return "int64" if size > HELD[compute] else compute
    return "float64" if compute == "float32" and size > LARGE_ANGLE else compute


def may_differ(node: Node, domain: Sequence[Range]) -> bool:
    """Whether `part_type` may be another type than the stage's, whatever is read."""
    if not (_magnifies(node) or _is_periodic(node)):
        return False
    facts = _facts(node, tuple(domain))
    return facts.reads and (facts.whole if _magnifies(node) else not facts.given)


class _Facts(NamedTuple):
    """Of a term and its parts: whether all of them keep integers, and whether there are reads, and
    such of more than iterators."""

    whole: bool
    reads: bool
    given: bool


@lru_cache(maxsize=1 << 14)
def _facts(node: Node, domain: tuple[Range, ...]) -> _Facts:
    truth = isinstance(node, Apply) and FUNCTIONS[node.function].truth
    parts = () if truth else branches(node) or children(node)
    below = [_facts(part, domain) for part in parts]
    read = isinstance(node, Access)
    return _Facts(
        keeps_integers(node, domain) and all(one.whole for one in below),
        read or any(one.reads for one in below),
        (isinstance(node, Access) and _is_given(node)) or any(one.given for one in below),
    )


def _magnifies(part: Node) -> bool:
    """Whether the part may be far off where its operands are off by their rounding."""
    return isinstance(part, Add) or (isinstance(part, Apply) and part.function in DIVIDED)


def _is_periodic(part: Node) -> bool:
    return isinstance(part, Apply) and part.function in PERIODIC


def _is_given(access: Access) -> bool:
    """Whether the read is of more than iterators."""
    return not isinstance(access.source, Tensor) or is_input(access.source)


class _Largest:
    """The largest magnitude that a term may have, as far as bounds tell."""

    def __init__(self, domain: Sequence[Range], types: Mapping[Source, str]) -> None:
        self.domain, self.types = domain, types
        self.known: dict[Node, float] = {}

    def __call__(self, node: Node) -> float:
        if node not in self.known:
            self.known[node] = self._of(node)
        return self.known[node]

    def _of(self, node: Node) -> float:
        if isinstance(node, Const):
            return _size(node.value)
        if isinstance(node, Access):
            return self._of_read(node)
        if isinstance(node, Apply) and FUNCTIONS[node.function].truth:
            return 1.0
        below = [self(child) for child in branches(node) or children(node)]
        if isinstance(node, Add):
            return sum(below)
        if isinstance(node, Mul):
            found = 1.0
            for size in below:
                found *= size
            return found if found == found else inf
        if isinstance(node, Power):
            return _power(below[0], node.exponent) if node.exponent > 0 else inf
        no_larger = bool(branches(node))
        no_larger |= isinstance(node, Apply) and node.function in NO_LARGER
        return max(below) if no_larger else inf

    def _of_read(self, node: Access) -> float:
        if not _is_given(node):
            low, high = affine.bounds(node.rows[0], self.domain)
            return float(max(abs(low), abs(high)))
        least, most = LIMITS.get(self.types.get(node.source, ""), (-inf, inf))
        return max(-float(least), float(most), _size(node.fill))


def _power(size: float, exponent: int) -> float:
    try:
        return size**exponent
    except OverflowError:
        return inf


def _size(value: Number) -> float:
    try:
        return abs(float(value))
    except OverflowError:
        return inf
