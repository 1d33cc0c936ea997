"""Interned, immutable nodes of the algebra: equality is identity.

    Tensor   an input array                         A : shape (64, 32)
    Const    a rational number or an infinity       1/961
    Access   a read of a tensor or a scope          A[i, k+1]       outside its ranges: its fill
    Apply    a named scalar function                exp(a)
    Power    an integer power                       a^2
    Mul      a product                              2*a*b
    Add      a sum of terms                         a + b
    Select   where(r >= 0 and s == 0, a, b)         on index rows
    Scope    {L[x:0:8] S[c:0:16] f(x, c)}           a tensor on its loops, its fill outside

A scope is closed: rows in its body speak of its own iterators only, by position (loops first, then
reduction iterators).  A reduction inside a scalar expression is therefore an access to a scope, and
an expression with nested scopes *is* a staged program.

This module holds the classes and the interning table; build nodes with `ta.expr`, whose
constructors canonicalise.  Nothing else may call the classes.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias, TypeVar
from weakref import WeakValueDictionary
from zlib import crc32

from ta.affine import Range, Row, iterators

Number: TypeAlias = Fraction | float
"""A Fraction, or one of the two infinities as a float."""

Reducer: TypeAlias = Literal["sum", "max", "min", "prod"]
REDUCERS: Final[tuple[Reducer, ...]] = ("sum", "max", "min", "prod")


class Condition(NamedTuple):
    """`row >= 0` or `row == 0`."""

    relation: Literal[">=", "=="]
    row: Row


class Node:
    """A node.  `free` is the bit set of iterators that occur; `digest` and `order` fix an order of
    operands that does not depend on the run."""

    __slots__ = ("__weakref__", "digest", "free", "label")
    rank: ClassVar[int] = 2
    digest: int
    free: int
    label: str

    @property
    def order(self) -> tuple[int, str, int]:
        return (self.rank, self.label, self.digest)

    def __reduce__(self) -> str:
        raise TypeError("nodes are not pickled; print them and parse the text")

    def __repr__(self) -> str:
        from ta.show import show  # the printer knows the nodes; only debugging needs it from here

        return show(self)


class Tensor(Node):
    __slots__ = ("dtype", "name", "ranges", "shape")
    name: str
    shape: tuple[int, ...]
    ranges: tuple[Range, ...]
    dtype: str


class Const(Node):
    __slots__ = ("value",)
    rank = 0
    value: Number


class Access(Node):
    __slots__ = ("fill", "rows", "source")
    rank = 1
    source: Tensor | Scope
    rows: tuple[Row, ...]
    fill: Number


class Apply(Node):
    __slots__ = ("args", "function")
    function: str
    args: tuple[Node, ...]


class Power(Node):
    __slots__ = ("base", "exponent")
    rank = 1
    base: Node
    exponent: int


class Mul(Node):
    __slots__ = ("factors",)
    factors: tuple[Node, ...]


class Add(Node):
    __slots__ = ("terms",)
    terms: tuple[Node, ...]


class Select(Node):
    __slots__ = ("conditions", "otherwise", "then")
    conditions: tuple[Condition, ...]
    then: Node
    otherwise: Node


class Scope(Node):
    __slots__ = ("body", "domain", "loops", "reducer", "sums")
    loops: tuple[Range, ...]
    sums: tuple[Range, ...]
    domain: tuple[Range, ...]
    """The ranges of all iterators, loops first."""
    reducer: Reducer
    body: Node

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The ranges of the loops: what a reader sees as the tensor's dimensions."""
        return self.loops

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(loop.extent for loop in self.loops)


Source: TypeAlias = Tensor | Scope
_NodeT = TypeVar("_NodeT", bound=Node)
_table: WeakValueDictionary[tuple[object, ...], Node] = WeakValueDictionary()


def row_mask(rows: tuple[Row, ...]) -> int:
    """The bit set of the iterators in the rows."""
    mask = 0
    for row in rows:
        for i, _ in row.terms:
            mask |= 1 << i
        for inner, _, _ in row.floors:
            for i in iterators(inner):
                mask |= 1 << i
    return mask


def _text_digest(text: str) -> int:
    return crc32(text.encode())


def _number_digest(value: Number) -> int:
    if isinstance(value, Fraction):
        return hash((3 * value.numerator + 1, value.denominator))
    return hash(value)


def _intern(kind: type[_NodeT], key: tuple[object, ...], fields: tuple[object, ...]) -> _NodeT:
    """The one node of this key; `fields` follow the sorted slots, then digest, free, label."""
    found = _table.get(key)
    if found is not None:
        return found  # type: ignore[return-value]  # the key starts with the kind
    node = object.__new__(kind)
    for slot, value in zip((*kind.__slots__, "digest", "free", "label"), fields, strict=True):
        object.__setattr__(node, slot, value)
    _table[key] = node
    return node


@lru_cache(maxsize=65536)
def _row_digest(row: Row) -> int:
    """As the hash of the row, except that Python gives -1 and -2 the same hash."""
    floors = tuple((_row_digest(inner), n, 3 * b + 1) for inner, n, b in row.floors)
    return hash((3 * row.const + 1, tuple((i, 3 * a + 1) for i, a in row.terms), floors))


def make_tensor(name: str, shape: tuple[int, ...], dtype: str) -> Tensor:
    digest = hash((1, _text_digest(name), shape, _text_digest(dtype)))
    ranges = tuple(Range(0, extent) for extent in shape)
    fields = (dtype, name, ranges, shape, digest, 0, name)
    return _intern(Tensor, (Tensor, name, shape, dtype), fields)


def make_const(value: Number) -> Const:
    return _intern(Const, (Const, value), (value, hash((2, _number_digest(value))), 0, ""))


def make_access(source: Source, rows: tuple[Row, ...], fill: Number) -> Access:
    key = (Access, source, rows, fill)
    digest = hash((3, source.digest, *map(_row_digest, rows), _number_digest(fill)))
    return _intern(Access, key, (fill, rows, source, digest, row_mask(rows), source.label))


def make_apply(function: str, args: tuple[Node, ...]) -> Apply:
    free, label = 0, "~"
    for arg in args:
        free |= arg.free
        label = min(label, arg.label or "~")
    digest = hash((4, _text_digest(function), *(arg.digest for arg in args)))
    return _intern(Apply, (Apply, function, args), (args, function, digest, free, label))


def make_power(base: Node, exponent: int) -> Power:
    digest = hash((5, base.digest, exponent))
    fields = (base, exponent, digest, base.free, base.label)
    return _intern(Power, (Power, base, exponent), fields)


def _operands(kind: type[_NodeT], tag: int, operands: tuple[Node, ...]) -> _NodeT:
    free = 0
    for operand in operands:
        free |= operand.free
    label = next((o.label for o in operands if o.label), "")
    digest = hash((tag, *(o.digest for o in operands)))
    return _intern(kind, (kind, operands), (operands, digest, free, label))


def make_mul(factors: tuple[Node, ...]) -> Mul:
    return _operands(Mul, 6, factors)


def make_add(terms: tuple[Node, ...]) -> Add:
    return _operands(Add, 7, terms)


def make_select(conditions: tuple[Condition, ...], then: Node, otherwise: Node) -> Select:
    free = then.free | otherwise.free | row_mask(tuple(c.row for c in conditions))
    marks = tuple((c.relation == "==", _row_digest(c.row)) for c in conditions)
    digest = hash((8, marks, then.digest, otherwise.digest))
    label = then.label or otherwise.label
    key = (Select, conditions, then, otherwise)
    return _intern(Select, key, (conditions, otherwise, then, digest, free, label))


def make_scope(
    loops: tuple[Range, ...], sums: tuple[Range, ...], reducer: Reducer, body: Node
) -> Scope:
    digest = hash((9, loops, sums, _text_digest(reducer), body.digest))
    key = (Scope, loops, sums, reducer, body)
    fields = (body, loops + sums, loops, reducer, sums, digest, 0, body.label)
    return _intern(Scope, key, fields)
