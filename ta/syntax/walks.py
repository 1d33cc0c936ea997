"""Syntax trees: other parts in their places, the names in them, what may be an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from einderive.ta.syntax.tree import (
    Call,
    Comparison,
    Defined,
    Expression,
    Logical,
    Name,
    Negate,
    Number,
    PowerOf,
    Product,
    Read,
    Reduction,
    ScopeText,
    Size,
    Sum,
    operands,
)

PARTS: Mapping[type, tuple[str, ...]] = {
    Negate: ("operand",),
    Sum: ("terms",),
    Product: ("factors",),
    PowerOf: ("base",),
    Call: ("args",),
    Defined: ("names", "args"),
    Reduction: ("names", "body"),
    Size: ("names",),
    Comparison: ("operands",),
    Logical: ("operands",),
    Read: ("indices",),
}
"""The fields that hold parts, indices and bound names among them."""


def with_parts(
    expression: Expression,
    change: Callable[[Expression], Expression],
    *,
    into_scopes: bool = False,
) -> Expression:
    """The expression with `change` of each part, of indices and bound names too; scopes are closed
    and stay, unless `into_scopes`."""

    def of(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(of, value))
        return value if isinstance(value, bool | str) else change(value)

    parts = PARTS.get(type(expression), ())
    if into_scopes and isinstance(expression, ScopeText):
        parts = ("body",)
    if into_scopes and isinstance(expression, Read) and isinstance(expression.source, ScopeText):
        parts = ("source", "indices")
    changed = {name: of(getattr(expression, name)) for name in parts}
    return replace(expression, **changed) if parts else expression


def iterator_names(expression: Expression, *, bound: bool = False) -> Iterator[Name]:
    """The iterators an expression or an index uses, without those that its reducers bind (unless
    `bound`).  Nested scopes are closed: only the indices at which they are read count."""
    if isinstance(expression, Name):
        yield expression
    elif isinstance(expression, Read):
        for index in expression.indices:
            yield from iterator_names(index, bound=bound)
    elif isinstance(expression, Reduction | Defined):
        stays = bound or (isinstance(expression, Defined) and expression.definition.free)
        own = set() if stays else {name.name for name in expression.names}
        if stays:
            yield from expression.names
        for part in operands(expression):
            yield from (n for n in iterator_names(part, bound=bound) if n.name not in own)
    elif isinstance(expression, Size):
        yield from expression.names if bound else ()
    else:
        for part in operands(expression):
            yield from iterator_names(part, bound=bound)


def written(name: str) -> str:
    """The name as the text has it: a definition that is written out renames k to k', k'', ..."""
    return name.rstrip("'")


def is_index(expression: Expression) -> bool:
    """Whether it is built as an index is: from names, sizes and integers with + - * // %; a product
    has at most one name."""
    match expression:
        case Number(_, value):
            return not isinstance(value, float) and value.denominator == 1
        case Name() | Size():
            return True
        case Negate() | Sum():
            return all(map(is_index, operands(expression)))
        case Product(_, factors):
            varying = [op for op, factor in factors if any(iterator_names(factor))]
            plain = all(op != "/" and is_index(factor) for op, factor in factors)
            return plain and len(varying) <= 1 and varying in ([], ["*"])
    return False


def index_names(expression: Expression) -> Iterator[Name]:
    """The names in indices of reads and in comparisons of indices, in the order of the text."""
    if isinstance(expression, Read) or _compares_indices(expression):
        yield from iterator_names(expression)
    else:
        for part in operands(expression):
            yield from index_names(part)


def _compares_indices(expression: Expression) -> bool:
    return isinstance(expression, Comparison) and all(map(is_index, expression.operands))
