"""Text in, text out: what is printed reads back as the same object."""

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from ta import affine, canon, expr
from ta.affine import Range, Row
from ta.node import Condition, Node, Scope
from ta.parse import parse, parse_expression
from ta.show import show, show_program

TENSORS = {
    "A": expr.tensor("A", (4,)),
    "B": expr.tensor("B", (3, 5)),
    "i": expr.tensor("i", (2,)),
    "alpha": expr.tensor("alpha", ()),
}
NUMBERS = st.sampled_from(
    [Fraction(n) for n in (0, 1, -1, 2, "1/961", "-3/4", "-2/7", "0.044715", "1e-40")]
) | st.sampled_from([inf, -inf])


@st.composite
def rows(draw: st.DrawFn, count: int, depth: int = 1) -> Row:
    """A quasi-affine row over `count` iterators."""
    row = affine.constant(draw(st.integers(-3, 3)))
    for position in range(count):
        row = affine.add(row, affine.iterator(position), draw(st.sampled_from([0, 0, 1, 1, -1, 3])))
    if depth and draw(st.integers(0, 2)) == 0:
        inner, divisor = draw(rows(count, depth - 1)), draw(st.integers(2, 5))
        shape = draw(st.sampled_from([affine.floordiv, affine.modulo]))
        row = affine.add(row, shape(inner, divisor), draw(st.sampled_from([1, -1, 2, -6])))
    return row


@st.composite
def scalars(draw: st.DrawFn, count: int, depth: int) -> Node:
    """A scalar expression over `count` iterators."""
    kind = draw(st.integers(0, 9 if depth else 2))
    if kind == 0:
        return expr.const(draw(NUMBERS))
    if kind in (1, 2):
        source = draw(st.sampled_from(list(TENSORS.values())))
        fill = draw(st.sampled_from([0, 0, 1, -inf, Fraction(1, 3)]))
        return expr.access(source, [draw(rows(count)) for _ in source.shape], fill)
    if kind == 3:
        scope = draw(scopes(depth - 1))
        chosen = [draw(rows(count)) for _ in scope.loops]
        return expr.access(scope, chosen, draw(st.sampled_from([0, 0, inf])))
    first = draw(scalars(count, depth - 1))
    if kind == 4:
        return expr.apply(draw(st.sampled_from(["exp", "relu", "abs"])), first)
    if kind == 5:
        return expr.power(first, draw(st.sampled_from([-2, -1, 2, 3])))
    second = draw(scalars(count, depth - 1))
    if kind == 6:
        relations = st.builds(Condition, st.sampled_from([">=", "=="]), rows(count))
        return expr.select(draw(st.lists(relations, min_size=1, max_size=2)), first, second)
    if kind == 7:
        return expr.apply("maximum", first, second)
    return expr.mul(first, second) if kind == 8 else expr.add(first, second)


@st.composite
def scopes(draw: st.DrawFn, depth: int) -> Scope:
    bounds = st.builds(
        lambda lo, extent: Range(lo, lo + extent), st.integers(-2, 2), st.integers(0, 4)
    )
    loops = draw(st.lists(bounds, max_size=3))
    sums = draw(st.lists(bounds, max_size=3))
    body = draw(scalars(len(loops) + len(sums), depth))
    return canon.scope(loops, sums, body, draw(st.sampled_from(["sum", "max", "min", "prod"])))


@st.composite
def expressions(draw: st.DrawFn) -> Node:
    """A scope or a scalar; constants that have no value (0 times infinity) are left out."""
    try:
        return draw(st.one_of(scopes(3), scalars(3, 3)))
    except (ValueError, OverflowError):
        reject()


@settings(max_examples=400, deadline=None)
@given(expressions(), st.booleans())
def test_random_expressions_read_back(expression: Node, unicode: bool) -> None:
    text = show(expression, unicode=unicode)
    assert parse_expression(text, TENSORS) is expression, text
