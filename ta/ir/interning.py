"""The table of nodes: one object for each kind and fields.

`ir.expr` decides which node an expression is.  The functions of this module look the node up, or
enter it with the digest and the bit set of iterators that follow from its fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import NamedTuple, TypeVar
from zlib import crc32

from einderive.ta.ir.affine import Range, Row, mask
from einderive.ta.ir.box import Box
from einderive.ta.ir.dtypes import BYTES
from einderive.ta.ir.node import (
    ANY,
    Access,
    Add,
    Apply,
    Bounds,
    Condition,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Reducer,
    Scope,
    Select,
    Source,
    Tensor,
)
from einderive.ta.ir.table import TABLE, Entry, forget

_NodeT = TypeVar("_NodeT", bound=Node)


def row_mask(rows: Sequence[Row]) -> int:
    """The bit set of the iterators in the rows."""
    found = 0
    for row in rows:
        found |= mask(row)
    return found


def _text_digest(text: str) -> int:
    return crc32(text.encode())


def _number_digest(value: Number) -> int:
    if isinstance(value, Fraction):
        return hash((3 * value.numerator + 1, value.denominator))
    return hash(value)


def _known(kind: type[_NodeT], key: tuple[object, ...]) -> _NodeT | None:
    """The node of this key, which starts with the kind, if there is one."""
    entry = TABLE.get(key)
    return None if entry is None else entry()  # type: ignore[return-value]  # of the kind in the key


def _enter(
    node: _NodeT, key: tuple[object, ...], digest: int, free: int, label: str, widest: int
) -> _NodeT:
    """The node, made complete, as the one of its key from now on; the one that another thread has
    entered meanwhile, if there is one."""
    node.digest, node.free, node.label, node.widest = digest, free, label, widest
    entry = Entry(node, forget)
    entry.key = key
    while (held := TABLE.setdefault(key, entry)) is not entry:
        other = held()
        if other is not None:
            return other  # type: ignore[return-value]  # of the kind in the key
        forget(held)
    return node


class _Marked(NamedTuple):
    """A row with its digest: as its hash, except that Python gives -1 and -2 the same hash."""

    row: Row
    digest: int


@lru_cache(maxsize=65536)
def _marked(row: Row) -> _Marked:
    floors = tuple((_marked(inner).digest, n, 3 * b + 1) for inner, n, b in row.floors)
    terms = tuple((i, 3 * a + 1) for i, a in row.terms)
    return _Marked(row, hash((3 * row.const + 1, terms, floors)))


class _Rows(NamedTuple):
    """Rows, their digests, and the bit set of their iterators."""

    rows: tuple[Row, ...]
    digests: tuple[int, ...]
    free: int


@lru_cache(maxsize=32768)
def _rows(rows: tuple[Row, ...]) -> _Rows:
    """Equal rows become one object: the same few occur in very many reads."""
    marked = [_marked(row) for row in rows]
    return _Rows(tuple([m.row for m in marked]), tuple([m.digest for m in marked]), row_mask(rows))


@lru_cache(maxsize=4096)
def _number_mark(value: Number) -> tuple[object, int]:
    """A number as a part of a key, quick to hash, and its digest."""
    if isinstance(value, Fraction):
        return (value.numerator, value.denominator), _number_digest(value)
    return value, _number_digest(value)


def make_tensor(name: str, shape: tuple[int, ...], dtype: str, bounds: Bounds = ANY) -> Tensor:
    key = (Tensor, name, shape, dtype, bounds)
    node = _known(Tensor, key)
    if node is None:
        node = object.__new__(Tensor)
        node.name, node.shape, node.dtype, node.bounds = name, shape, dtype, bounds
        node.ranges = tuple(Range(0, extent) for extent in shape)
        node.size = prod(shape)
        digest = hash(
            (1, _text_digest(name), shape, _text_digest(dtype))
        )  # an assumption orders nothing
        node = _enter(node, key, digest, 0, name, BYTES.get(dtype, 0))
    return node


def make_positions(name: str, bound: Range) -> Tensor:
    """The tensor whose element at each place of the range is that place."""
    key = (Tensor, name, (bound.extent,), "int64")
    node = _known(Tensor, key)
    if node is None:
        node = object.__new__(Tensor)
        node.name, node.shape, node.dtype, node.bounds = name, (bound.extent,), "int64", ANY
        node.ranges, node.size = (bound,), bound.extent
        node = _enter(node, key, hash((1, _text_digest(name))), 0, name, 0)
    return node


def make_const(value: Number) -> Const:
    mark, number = _number_mark(value)
    key = (Const, mark)
    node = _known(Const, key)
    if node is None:
        node = object.__new__(Const)
        node.value = value
        node = _enter(node, key, hash((2, number)), 0, "", 0)
    return node


ZERO_MARK = _number_mark(Fraction(0))


def make_access(source: Source, rows: tuple[Row, ...], fill: Number) -> Access:
    mark, number = _number_mark(fill) if fill else ZERO_MARK
    key = (Access, source, rows, mark)
    node = _known(Access, key)
    if node is None:
        node = object.__new__(Access)
        rows, digests, free = _rows(rows)
        key = (Access, source, rows, mark)
        node.source, node.rows, node.fill = source, rows, fill
        digest = hash((3, source.digest, *digests, number))
        node = _enter(node, key, digest, free, source.label, source.widest)
    return node


def make_apply(function: str, args: tuple[Node, ...]) -> Apply:
    key = (Apply, function, args)
    node = _known(Apply, key)
    if node is None:
        node = object.__new__(Apply)
        node.function, node.args = function, args
        free, label, widest = 0, "~", 0
        for arg in args:
            free |= arg.free
            label = min(label, arg.label or "~")
            widest = max(widest, arg.widest)
        digest = hash((4, _text_digest(function), *(arg.digest for arg in args)))
        node = _enter(node, key, digest, free, label, widest)
    return node


def make_power(base: Node, exponent: int) -> Power:
    key = (Power, base, exponent)
    node = _known(Power, key)
    if node is None:
        node = object.__new__(Power)
        node.base, node.exponent = base, exponent
        digest = hash((5, base.digest, exponent))
        node = _enter(node, key, digest, base.free, base.label, base.widest)
    return node


def _summary(tag: int, operands: tuple[Node, ...]) -> tuple[int, int, str, int]:
    """The digest, the iterators, the label and the widest element of a product or a sum."""
    free = widest = 0
    for operand in operands:
        free |= operand.free
        if operand.widest > widest:
            widest = operand.widest
    label = next((operand.label for operand in operands if operand.label), "")
    return hash((tag, *[operand.digest for operand in operands])), free, label, widest


def make_mul(factors: tuple[Node, ...]) -> Mul:
    key = (Mul, factors)
    node = _known(Mul, key)
    if node is None:
        node = object.__new__(Mul)
        node.factors = factors
        node = _enter(node, key, *_summary(6, factors))
    return node


def make_add(terms: tuple[Node, ...]) -> Add:
    key = (Add, terms)
    node = _known(Add, key)
    if node is None:
        node = object.__new__(Add)
        node.terms = terms
        node = _enter(node, key, *_summary(7, terms))
    return node


def make_select(conditions: tuple[Condition, ...], then: Node, otherwise: Node) -> Select:
    key = (Select, conditions, then, otherwise)
    node = _known(Select, key)
    if node is None:
        node = object.__new__(Select)
        node.conditions, node.then, node.otherwise = conditions, then, otherwise
        free = then.free | otherwise.free | row_mask(tuple(c.row for c in conditions))
        marks = tuple((c.relation == "==", _marked(c.row).digest) for c in conditions)
        digest = hash((8, marks, then.digest, otherwise.digest))
        label, widest = then.label or otherwise.label, max(then.widest, otherwise.widest)
        node = _enter(node, key, digest, free, label, widest)
    return node


def make_scope(box: Box, reducer: Reducer, body: Node) -> Scope:
    key = (Scope, box.loops, box.sums, reducer, body)
    node = _known(Scope, key)
    if node is None:
        node = object.__new__(Scope)
        node.reducer, node.body = reducer, body
        node.loops, node.sums, node.domain, node.extents, node.shape, node.size, node.empty = box
        node.ranges = node.loops
        digest = hash((9, box.loops, box.sums, _text_digest(reducer), body.digest))
        node = _enter(node, key, digest, 0, body.label, body.widest)
    return node
