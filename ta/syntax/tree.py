"""The syntax tree of the notation, with the place of every part in the text.

    text  -- lark -->  Statement(...)  -- einstein, ranges, lowering -->  nodes

Indices, conditions and scalars are one kind of expression here; `lowering` tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from einderive.ta.definitions.data import Definition
from einderive.ta.ir import node
from einderive.ta.ir.affine import Range
from einderive.ta.refusals import NotationError, refused

Span: TypeAlias = tuple[int, int]
"""Half-open range of characters."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, at its place."""

    span: Span


@dataclass(frozen=True, slots=True)
class Number(Part):
    value: node.Number


@dataclass(frozen=True, slots=True)
class Name(Part):
    """An iterator, in an index, a condition or a scalar.  In what the grammar gives also a tensor
    without dimensions, or a constant; `resolved` tells them apart."""

    name: str


@dataclass(frozen=True, slots=True)
class Ellipsis(Part):
    """`...` as the first index: all leading dimensions that have no index of their own."""


@dataclass(frozen=True, slots=True)
class Binding(Part):
    """`name:lo:hi` in a scope, `name in lo:hi` in a clause; `ends` are given where they have names
    of sizes, and the range is not known then."""

    name: str
    known: Range | None
    ends: tuple[Expression, ...] = ()

    @property
    def names(self) -> tuple[Name, ...]:
        """The names of sizes in the ends."""
        parts = (part for end in self.ends for part in scalars(end))
        return tuple(part for part in parts if isinstance(part, Name))

    @property
    def range(self) -> Range:
        if self.known is None:
            raise unknown_size(self.names[0])
        return self.known


@dataclass(frozen=True, slots=True)
class Binder(Part):
    """`L[x:0:8]`, `S[c:0:16]`, `max[c:0:16]`."""

    kind: str
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class ScopeText(Part):
    """`{L[x:0:8] S[c:0:16] body}`."""

    binders: tuple[Binder, ...]
    body: Expression
    own: tuple[tuple[str, Range], ...] = ()
    """The iterators of sums that stand for gathers in the body, and their ranges."""


@dataclass(frozen=True, slots=True)
class Read(Part):
    """`A[i, k+1]`, `A{fill=-inf}[i]`, `{...}[x]`."""

    source: Name | ScopeText
    fill: Expression | None
    indices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Reduction(Part):
    """`max[k, l](body)`; also what the Einstein convention implies."""

    reducer: str
    names: tuple[Name, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class Call(Part):
    """`exp(a)`, `where(condition, a, b)`."""

    function: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Defined(Part):
    """`mean[k](x)`, `clip(x, 0, 1)`: a definition with an argument for each of its operands."""

    definition: Definition
    names: tuple[Name, ...]
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Size(Part):
    """`size(k)`, `size(i, j)`: how many values the iterators take together."""

    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Negate(Part):
    operand: Expression


@dataclass(frozen=True, slots=True)
class Sum(Part):
    """Terms with their signs; True is minus."""

    terms: tuple[tuple[bool, Expression], ...]


@dataclass(frozen=True, slots=True)
class Product(Part):
    """Factors with the operator before each: `*`, `/`, `//` or `%` (`*` for the first)."""

    factors: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class PowerOf(Part):
    base: Expression
    exponent: int


@dataclass(frozen=True, slots=True)
class Comparison(Part):
    """`0 <= i-j < 4`: one operator fewer than operands."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Logical(Part):
    """`and`, `or`, `not` of conditions."""

    operator: str
    operands: tuple[Expression, ...]


Scalar: TypeAlias = (
    Number | Name | Read | Reduction | Call | Defined | Size | Negate | Sum | Product | PowerOf
)
Expression: TypeAlias = Scalar | Comparison | Logical | ScopeText | Ellipsis


@dataclass(frozen=True, slots=True)
class Statement(Part):
    """`target[indices] = value where clause`, or `+=` where it `adds`."""

    target: Name
    indices: tuple[Expression, ...]
    value: Expression
    clause: tuple[Binding, ...]
    output: bool = False
    """Whether `out` stands before it."""
    adds: bool = False
    before: Name | None = None
    """The statement that it adds to, if there is one."""
    places: tuple[Expression, ...] = ()
    """The places where it adds: equalities of the indices on the left with the iterators that have
    taken their places."""

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The parts that are read: the right side, the tensor that it adds to, and the data in
        indices on the left."""
        reads = tuple(read for index in self.indices for read in reads_in(index))
        if self.before is not None:
            reads = (Read(self.target.span, self.before, None, self.indices), *reads)
        return (self.value, *self.places, *reads)


@dataclass(frozen=True, slots=True)
class Assumptions(Part):
    """`assume A > 0, 0 <= B < 1`."""

    comparisons: tuple[Expression, ...]


def unknown_size(name: Name) -> NotationError:
    """The error for a name in a range whose value is not known."""
    return refused("unknown-size", name.span, name=name.name)


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The parts in scalar or condition position; indices are not among them, scopes are closed."""
    match expression:
        case Negate(_, operand):
            return (operand,)
        case Sum(_, terms):
            return tuple(term for _, term in terms)
        case Product(_, factors):
            return tuple(factor for _, factor in factors)
        case PowerOf(_, base, _):
            return (base,)
        case Call(_, _, args) | Defined(_, _, _, args):
            return args
        case Comparison(_, parts, _) | Logical(_, _, parts):
            return parts
        case Reduction(_, _, _, body):
            return (body,)
    return ()


def scalars(expression: Expression, *, into_scopes: bool = False) -> Iterator[Expression]:
    """The expression and its parts in scalar or condition position, in the order of the text; reads
    inside of indices are among them."""
    yield expression
    parts = operands(expression)
    if isinstance(expression, Read):
        for index in expression.indices:
            for read in reads_in(index):
                yield from scalars(read, into_scopes=into_scopes)
    if into_scopes and isinstance(expression, ScopeText):
        parts = (expression.body,)
    if into_scopes and isinstance(expression, Read) and isinstance(expression.source, ScopeText):
        parts = (expression.source,)
    for part in parts:
        yield from scalars(part, into_scopes=into_scopes)


def reads_in(index: Expression) -> Iterator[Read]:
    """The reads of which an index is built; those inside of their own indices are left out."""
    if isinstance(index, Read):
        yield index
    elif isinstance(index, Negate | Sum | Product):
        for part in operands(index):
            yield from reads_in(part)
