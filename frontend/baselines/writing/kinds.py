"""The kind of tensor that torch has for a value: bools, whole numbers (int64), or floats.

    A[i] < B[i]           bools
    2*i + 1               whole numbers
    i*A[i], i/2           floats: mixed with floats, or not whole

What is compared, and a condition, has a kind of its own.  A stage is written in one kind
throughout, so that torch's products and powers meet operands of one type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from einderive.eops.dtypes import LIMITS, holds, values
from einderive.eops.whole_parts import part_type
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import (
    Access,
    Apply,
    Const,
    Node,
    Number,
    Power,
    Scope,
    Source,
    Tensor,
)
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.subst import branches, children


class Kind(IntEnum):
    """A kind of tensor.  Each holds the values of those before it."""

    TRUTH = 0
    WHOLE = 1
    FLOAT = 2


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of expressions and of stages, each found once."""

    _known: dict[Node, Kind] = field(default_factory=dict)

    def of(self, node: Node) -> Kind:
        """The kind of an expression, or of a source that it may read."""
        if node not in self._known:
            self._known[node] = self._found(node)
        return self._known[node]

    def together(self, nodes: Iterable[Node]) -> Kind:
        """The first kind that holds the values of all of these."""
        return max((self.of(node) for node in nodes), default=Kind.TRUTH)

    def _found(self, node: Node) -> Kind:
        match node:
            case Const():
                return _of_number(node.value)
            case Access():
                return max(self.of(node.source), _of_number(node.fill))
            case Scope():
                kind = self.of(node.body)
                chosen = not node.sums or REDUCERS[node.reducer].order
                return kind if chosen else max(kind, Kind.WHOLE)
            case Power():
                return self._number(node) if node.exponent > 0 else Kind.FLOAT
            case Apply():
                return self._of_function(node)
        if isinstance(node, Tensor):
            return _of_type(node.dtype)
        return self.together(branches(node)) if branches(node) else self._number(node)

    def _of_function(self, node: Apply) -> Kind:
        known = FUNCTIONS[node.function]
        if known.truth:
            return Kind.TRUTH
        if known.picks or known.reducer or (known.digits and known.symmetric):
            return self.together(branches(node) or node.args)
        return self._number(node) if known.keeps_integers else Kind.FLOAT

    def _number(self, node: Node) -> Kind:
        """The kind of an operation on numbers."""
        return max(self.together(children(node)), Kind.WHOLE)


def _of_number(value: Number) -> Kind:
    if holds("bool", value):
        return Kind.TRUTH
    return Kind.WHOLE if holds("int64", value) else Kind.FLOAT


def _of_type(dtype: str) -> Kind:
    if dtype == "bool":
        return Kind.TRUTH
    return Kind.WHOLE if dtype in LIMITS else Kind.FLOAT


def stays_whole(node: Node, domain: Sequence[Range], floating: str) -> bool:
    """Whether a term of whole numbers is written in these beside floats of this type, as they do
    not hold them where that makes another result (`eops.whole_parts`)."""
    read = [part.source for part in values(node) if isinstance(part, Access)]
    types = {source: _type(source) for source in read}
    return part_type(node, domain, types, floating) == "int64"


def _type(source: Source) -> str:
    return source.dtype if isinstance(source, Tensor) and is_input(source) else "int64"
