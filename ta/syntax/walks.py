"""Syntax trees: other parts in their places, the names in them, what may be an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from einderive.ta.syntax import tree

PARTS: Mapping[type, tuple[str, ...]] = {
    tree.Negate: ("operand",),
    tree.Sum: ("terms",),
    tree.Product: ("factors",),
    tree.PowerOf: ("base",),
    tree.Call: ("args",),
    tree.Defined: ("names", "args"),
    tree.Reduction: ("names", "body"),
    tree.Size: ("names",),
    tree.Comparison: ("operands",),
    tree.Logical: ("operands",),
    tree.Read: ("indices",),
}
"""The fields that hold parts, indices and bound names among them."""


def with_parts(
    expression: tree.Expression,
    change: Callable[[tree.Expression], tree.Expression],
    *,
    into_scopes: bool = False,
) -> tree.Expression:
    """The expression with `change` of each part, of indices and bound names too; scopes are closed
    and stay, unless `into_scopes`."""

    def of(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(of, value))
        return value if isinstance(value, bool | str) else change(value)

    parts = PARTS.get(type(expression), ())
    if into_scopes and isinstance(expression, tree.ScopeText):
        parts = ("body",)
    if (
        into_scopes
        and isinstance(expression, tree.Read)
        and isinstance(expression.source, tree.ScopeText)
    ):
        parts = ("source", "indices")
    changed = {name: of(getattr(expression, name)) for name in parts}
    return replace(expression, **changed) if parts else expression


def iterator_names(expression: tree.Expression, *, bound: bool = False) -> Iterator[tree.Name]:
    """The iterators an expression or an index uses, without those that its reducers bind (unless
    `bound`).  Nested scopes are closed: only the indices at which they are read count."""
    if isinstance(expression, tree.Name):
        yield expression
    elif isinstance(expression, tree.Read):
        for index in expression.indices:
            yield from iterator_names(index, bound=bound)
    elif isinstance(expression, tree.Reduction | tree.Defined):
        stays = bound or (isinstance(expression, tree.Defined) and expression.definition.free)
        own = set() if stays else {name.name for name in expression.names}
        if stays:
            yield from expression.names
        for part in tree.operands(expression):
            yield from (n for n in iterator_names(part, bound=bound) if n.name not in own)
    elif isinstance(expression, tree.Size):
        yield from expression.names if bound else ()
    else:
        for part in tree.operands(expression):
            yield from iterator_names(part, bound=bound)


def written(name: str) -> str:
    """The name as the text has it: a definition that is written out renames k to k', k'', ..."""
    return name.rstrip("'")


def is_index(expression: tree.Expression) -> bool:
    """Whether it is built as an index is: from names, sizes and integers with + - * // %; a product
    has at most one name."""
    match expression:
        case tree.Number(_, value):
            return not isinstance(value, float) and value.denominator == 1
        case tree.Name() | tree.Size():
            return True
        case tree.Negate() | tree.Sum():
            return all(map(is_index, tree.operands(expression)))
        case tree.Product(_, factors):
            varying = [op for op, factor in factors if any(iterator_names(factor))]
            plain = all(op != "/" and is_index(factor) for op, factor in factors)
            return plain and len(varying) <= 1 and varying in ([], ["*"])
    return False


def index_names(expression: tree.Expression) -> Iterator[tree.Name]:
    """The names in indices of reads and in comparisons of indices, in the order of the text."""
    if isinstance(expression, tree.Read) or _compares_indices(expression):
        yield from iterator_names(expression)
    else:
        for part in tree.operands(expression):
            yield from index_names(part)


def _compares_indices(expression: tree.Expression) -> bool:
    return isinstance(expression, tree.Comparison) and all(map(is_index, expression.operands))
