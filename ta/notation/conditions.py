"""Conditions of `where(...)`: comparisons joined by and, or, not, as nested choices.

    where(p and q, a, b) = where(p, where(q, a, b), b)      one select where p, q compare indices
    where(p or q, a, b)  = where(p, a, where(q, a, b))
    where(not p, a, b)   = where(p, b, a)
    where(x < y < z, a, b) = where(x < y and y < z, a, b)

A comparison of indices is a condition of a select.  One of values is a function, 0 or 1, and
`where` on it, or on any other value, is the function `choose`.  An inner `where` is a value like
any other, so nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Condition, Node
from einderive.ta.notation.of_types import require_reals
from einderive.ta.refusals import NotationError, refused
from einderive.ta.syntax.tree import Comparison, Expression, Logical, Number
from einderive.ta.syntax.walks import is_index

RowOf = Callable[[Expression], Row]
ValueOf = Callable[[Expression], Node]


def _no_values(value: Expression) -> Node:
    raise not_a_condition(value)


def select_on(
    condition: Expression,
    then: Node,
    otherwise: Node,
    row_of: RowOf | None,
    value_of: ValueOf = _no_values,
) -> Node:
    """`where(condition, then, otherwise)`; without `row_of`, indices are compared as values."""
    return _Choice(row_of, value_of).select(condition, then, otherwise)


def not_a_condition(part: Expression) -> NotationError:
    """The refusal of what says nothing that may be so or not."""
    return refused("not-a-condition", part.span)


class _Choice:
    """The functions by which indices become rows, and values nodes."""

    def __init__(self, row_of: RowOf | None, value_of: ValueOf) -> None:
        self.row_of, self.value_of = row_of, value_of

    def select(self, condition: Expression, then: Node, otherwise: Node) -> Node:
        conjunction = self._conjunction([condition])
        if conjunction is not None:
            return expr.select(conjunction, then, otherwise)
        if isinstance(condition, Comparison):
            return self._chain(condition, then, otherwise)
        if isinstance(condition, Number):
            raise not_a_condition(condition)
        if not isinstance(condition, Logical):
            return expr.apply("choose", self.value_of(condition), then, otherwise)
        if condition.operator == "not":
            return self.select(condition.operands[0], otherwise, then)
        result = then if condition.operator == "and" else otherwise
        if condition.operator == "or":
            for part in reversed(condition.operands):
                result = self.select(part, then, result)
            return result
        for of_indices, parts in groupby(reversed(condition.operands), self._is_conjunction):
            if of_indices:
                result = expr.select(self._conjunction([*parts]) or (), result, otherwise)
            else:
                for part in parts:
                    result = self.select(part, result, otherwise)
        return result

    def _is_conjunction(self, condition: Expression) -> bool:
        return self._conjunction([condition]) is not None

    def _conjunction(self, parts: list[Expression]) -> list[Condition] | None:
        """The conditions on indices that must all hold, or None where others, `or`, `not` or `!=`
        take part."""
        found: list[Condition] = []
        for part in parts:
            if isinstance(part, Comparison):
                if "!=" in part.operators or not all(map(self._is_index, part.operands)):
                    return None
                found += [c for pair in _pairs(part) for c in self._compare(*pair)]
            elif isinstance(part, Logical) and part.operator == "and":
                inner = self._conjunction(list(part.operands))
                if inner is None:
                    return None
                found += inner
            else:
                return None
        return found

    def _is_index(self, part: Expression) -> bool:
        return self.row_of is not None and is_index(part)

    def _compare(self, left: Expression, operator: str, right: Expression) -> list[Condition]:
        assert self.row_of is not None
        difference = affine.add(self.row_of(left), self.row_of(right), -1)
        if operator == "==":
            return [Condition("==", difference)]
        if operator in ("<", "<="):
            difference = affine.scale(difference, -1)
        return [Condition(">=", affine.shift(difference, -1 if operator in "<>" else 0))]

    def _chain(self, comparison: Comparison, then: Node, otherwise: Node) -> Node:
        """A chain of comparisons with `!=` or values in it."""
        result = then
        for left, operator, right in reversed(_pairs(comparison)):
            if not (self._is_index(left) and self._is_index(right)):
                values = self.value_of(left), self.value_of(right)
                if operator not in ("==", "!="):
                    own = comparison.span if len(comparison.operators) == 1 else None
                    require_reals(operator, own or (left.span[0], right.span[1]), *values)
                condition = compared(values[0], operator, values[1])
                result = expr.apply("choose", condition, result, otherwise)
            elif operator == "!=":
                result = expr.select(self._compare(left, "==", right), otherwise, result)
            else:
                result = expr.select(self._compare(left, operator, right), result, otherwise)
        return result


def _pairs(comparison: Comparison) -> list[tuple[Expression, str, Expression]]:
    pairs = zip(pairwise(comparison.operands), comparison.operators, strict=True)
    return [(left, operator, right) for (left, right), operator in pairs]


_FUNCTIONS = {"<": "less", "<=": "less_equal", "==": "equal", "!=": "not_equal"}


def compared(left: Node, operator: str, right: Node) -> Node:
    """A comparison of two values."""
    if operator in (">", ">="):
        left, right, operator = right, left, operator.replace(">", "<")
    return expr.apply(_FUNCTIONS[operator], left, right)
