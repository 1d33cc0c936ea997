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

This module holds the classes; `interning` makes their one object of each value, and `ta.ir.expr`,
whose constructors canonicalise, is what builds nodes.  Nothing else may call the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

from einderive.ta.ir.affine import Range, Row
from einderive.ta.uncopied import Uncopied

Number: TypeAlias = Fraction | float
"""A Fraction, or one of the two infinities as a float."""

Reducer: TypeAlias = str
"""The name of one of `ta.functions.REDUCERS`."""

PRINTERS: Final[dict[str, Callable[[Any], str]]] = {}
"""Printers of expressions and programs.  `ta.printing`, which knows both, enters itself here."""


class Bounds(NamedTuple):
    """An assumption about every element x of a tensor: least <= x <= greatest, with < at an end
    that is `above` or `below`, and x != 0 if `nonzero`.  Under any assumption, no x is NaN."""

    least: Number = -inf
    greatest: Number = inf
    above: bool = False
    below: bool = False
    nonzero: bool = False

    def holds(self, x: Number) -> bool:
        """Whether a number satisfies the assumption."""
        low = self.least < x if self.above else self.least <= x
        high = x < self.greatest if self.below else x <= self.greatest
        return low and high and not (self.nonzero and x == 0)


ANY: Final = Bounds()
"""Nothing is assumed."""


class Condition(NamedTuple):
    """`row >= 0` or `row == 0`."""

    relation: Literal[">=", "=="]
    row: Row


class Node(Uncopied):
    """A node of the algebra.

    - `free` is the bit set of iterators that occur.
    - `digest` and `order` fix an order of operands that is the same in every run.
    - `widest` is the number of bytes of an element of the widest tensor that the node is computed
      from, 0 if there is none.
    """

    __slots__ = ("__weakref__", "digest", "free", "label", "widest")
    not_pickled = ("a node", "print it, str(node), and parse the text")
    rank: ClassVar[int] = 2
    digest: int
    free: int
    label: str
    widest: int

    @property
    def order(self) -> tuple[int, str, int]:
        """The key by which operands are sorted."""
        return (self.rank, self.label, self.digest)

    def __repr__(self) -> str:
        return PRINTERS["expression"](self)


class Tensor(Node):
    """An input tensor: name, shape, element type.

    `size` is the number of its elements, `ranges` the half-open range of each dimension, `bounds`
    the caller's assumption about its elements."""

    __slots__ = ("bounds", "dtype", "name", "ranges", "shape", "size")
    name: str
    shape: tuple[int, ...]
    size: int
    ranges: tuple[Range, ...]
    dtype: str
    bounds: Bounds


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
    """A closed tensor expression: loops, a reduction over further iterators, and a body.

    - `domain` holds the ranges of all iterators, loops first; `extents` are their lengths.
    - `ranges` are the ranges of the loops, the dimensions that a reader sees.
    - `size` is the number of elements; `empty` says whether some range is empty."""

    __slots__ = (
        "body",
        "domain",
        "empty",
        "extents",
        "loops",
        "ranges",
        "reducer",
        "shape",
        "size",
        "sums",
    )
    loops: tuple[Range, ...]
    sums: tuple[Range, ...]
    domain: tuple[Range, ...]
    extents: tuple[int, ...]
    shape: tuple[int, ...]
    size: int
    empty: bool
    reducer: Reducer
    ranges: tuple[Range, ...]
    body: Node


Source: TypeAlias = Tensor | Scope
