"""Conditions of `where(...)`: from comparisons joined by and, or, not to nested selects.

    where(p and q, a, b) = where(p, where(q, a, b), b)      one select where p, q are comparisons
    where(p or q, a, b)  = where(p, a, where(q, a, b))
    where(not p, a, b)   = where(p, b, a)

An inner `where` is a value like any other, so nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Condition, Node
from einderive.ta.notation.syntax import Comparison, Expression, Logical, NotationError

RowOf = Callable[[Expression], Row]


def select_on(condition: Expression, then: Node, otherwise: Node, row_of: RowOf) -> Node:
    """`where(condition, then, otherwise)`."""
    conjunction = _conjunction(condition, row_of)
    if conjunction is not None:
        return expr.select(conjunction, then, otherwise)
    if isinstance(condition, Comparison):
        return _chain(condition, then, otherwise, row_of)
    assert isinstance(condition, Logical)  # `_conjunction` has refused everything else
    if condition.operator == "not":
        return select_on(condition.operands[0], otherwise, then, row_of)
    result = then if condition.operator == "and" else otherwise
    for part in reversed(condition.operands):
        if condition.operator == "and":
            result = select_on(part, result, otherwise, row_of)
        else:
            result = select_on(part, then, result, row_of)
    return result


def _conjunction(condition: Expression, row_of: RowOf) -> list[Condition] | None:
    """The conditions that must all hold, or None where `or`, `not` or `!=` take part."""
    if isinstance(condition, Comparison):
        if "!=" in condition.operators:
            return None
        return [c for pair in _pairs(condition) for c in _compare(*pair, row_of)]
    if not isinstance(condition, Logical):
        raise not_a_condition(condition)
    if condition.operator == "and":
        parts = [_conjunction(part, row_of) for part in condition.operands]
        found = [part for part in parts if part is not None]
        return [c for part in found for c in part] if len(found) == len(parts) else None
    return None


def not_a_condition(part: Expression) -> NotationError:
    """The refusal of what is no comparison of indices."""
    return NotationError(
        "a condition compares index expressions",
        part.span,
        next_step="for example i >= j; values are compared by maximum(a, b), relu(a) and abs(a)",
    )


def _pairs(comparison: Comparison) -> list[tuple[Expression, str, Expression]]:
    pairs = zip(pairwise(comparison.operands), comparison.operators, strict=True)
    return [(left, operator, right) for (left, right), operator in pairs]


def _compare(left: Expression, operator: str, right: Expression, row_of: RowOf) -> list[Condition]:
    difference = affine.add(row_of(left), row_of(right), -1)
    if operator == "==":
        return [Condition("==", difference)]
    if operator in ("<", "<="):
        difference = affine.scale(difference, -1)
    return [Condition(">=", affine.shift(difference, -1 if operator in "<>" else 0))]


def _chain(comparison: Comparison, then: Node, otherwise: Node, row_of: RowOf) -> Node:
    """A chain of comparisons with `!=` in it."""
    result = then
    for left, operator, right in reversed(_pairs(comparison)):
        if operator == "!=":
            result = expr.select(_compare(left, "==", right, row_of), otherwise, result)
        else:
            result = expr.select(_compare(left, operator, right, row_of), result, otherwise)
    return result
