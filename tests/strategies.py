"""Random small expressions for property tests.

A *raw* expression is a plain tree of tuples, as a person would write it: nothing merged, sorted or
simplified.  `build` makes the scope of it through the constructors; a test may read the raw tree
itself, and so judge the constructors.

    row         ("number", c) | ("iterator", i) | ("add", row, row) | ("scale", k, row)
                | ("floordiv", row, n) | ("modulo", row, n)
    expression  ("number", c) | ("access", source, rows, fill) | ("apply", name, args)
                | ("power", e, n) | ("mul", operands) | ("add", operands)
                | ("select", ((relation, row), ...), e, e)
    source      ("tensor", name, shape) | RawScope
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import strategies as st

from einderive.ta.exact.interp import input_tensors
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine, canon, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition, Node, Reducer, Scope, Tensor
from tests.fuzz.generator import program

Raw = tuple[Any, ...]
TENSORS = (
    ("tensor", "A", (3,)),
    ("tensor", "B", (2, 3)),
    ("tensor", "C", (4, 2)),
    ("tensor", "D", ()),
    ("tensor", "E", (2, 1, 3)),
)
ARITY = {name: function.arity for name, function in FUNCTIONS.items()}


class RawScope(NamedTuple):
    """`{L[loops] S[sums] body}`; iterators by position, loops first."""

    loops: tuple[Range, ...]
    sums: tuple[Range, ...]
    reducer: Reducer
    body: Raw


@dataclass(frozen=True)
class Grammar:
    """What random scopes may contain."""

    max_depth: int = 2
    max_loops: int = 3
    max_sums: int = 2
    min_extent: int = 1
    max_extent: int = 4
    reducers: tuple[Reducer, ...] = tuple(REDUCERS)
    functions: tuple[str, ...] = ("exp", "relu", "abs", "maximum")
    exponents: tuple[int, ...] = (2, 3, -1)
    floors: bool = True
    selects: bool = True
    fills: tuple[Fraction, ...] = (Fraction(0), Fraction(0), Fraction(2, 3))
    infinite_fills: bool = True
    """Only a max or min of nothing but an access gets one."""


ARITHMETIC = Grammar(reducers=("sum",), functions=(), exponents=(2,), infinite_fills=False)
"""Sums of products: what modular arithmetic decides."""


@st.composite
def ranges(draw: st.DrawFn, min_extent: int = 1, max_extent: int = 4) -> Range:
    """A small range, often with a start other than 0."""
    low = draw(st.sampled_from((0, 0, 0, -2, -1, 1, 3)))
    return Range(low, low + draw(st.integers(min_extent, max_extent)))


def boxes(
    max_sides: int = 3, *, min_sides: int = 0, max_extent: int = 4
) -> st.SearchStrategy[tuple[Range, ...]]:
    sides = st.lists(ranges(1, max_extent), min_size=min_sides, max_size=max_sides)
    return sides.map(tuple)


def raw_rows(iterators: int, *, floors: bool = True, depth: int = 2) -> st.SearchStrategy[Raw]:
    """Rows over so many iterators: lone ones, strides, windows, `//` and `%`."""
    number = st.integers(-3, 3).map(lambda c: ("number", c))
    if iterators == 0:
        return number
    lone = st.integers(0, iterators - 1).map(lambda i: ("iterator", i))
    if depth == 0:
        return lone
    inner = raw_rows(iterators, floors=floors, depth=depth - 1)
    choices = [
        lone,
        lone,
        number,
        st.tuples(st.just("add"), inner, st.one_of(inner, number)),
        st.tuples(st.just("scale"), st.sampled_from((-2, -1, 2, 3)), inner),
    ]
    if floors:
        divisor = st.integers(1, 4)
        choices.append(st.tuples(st.sampled_from(("floordiv", "modulo")), inner, divisor))
    return st.one_of(choices)


def rows(iterators: int, *, floors: bool = True, depth: int = 2) -> st.SearchStrategy[Row]:
    return raw_rows(iterators, floors=floors, depth=depth).map(build_row)


@st.composite
def raw_scopes(draw: st.DrawFn, grammar: Grammar = Grammar()) -> RawScope:
    """Random raw scopes that the grammar allows."""
    return draw(_raw_scope(grammar, grammar.max_depth))


def scopes(grammar: Grammar = Grammar()) -> st.SearchStrategy[Scope]:
    """Random scopes that the grammar allows."""
    return raw_scopes(grammar).map(build)


def programs() -> st.SearchStrategy[tuple[Scope, ...]]:
    """The programs of a fuzzing campaign: built as people write them, of several statements."""
    return st.randoms(use_true_random=False).map(program)


def tensors_of(scope: Scope) -> tuple[Tensor, ...]:
    return input_tensors(scope)


@st.composite
def _raw_scope(draw: st.DrawFn, grammar: Grammar, depth: int) -> RawScope:
    side = ranges(grammar.min_extent, grammar.max_extent)
    loops = tuple(draw(st.lists(side, max_size=grammar.max_loops)))
    sums = tuple(draw(st.lists(side, max_size=grammar.max_sums)))
    reducer: Reducer = draw(st.sampled_from(grammar.reducers)) if sums else "sum"
    count = len(loops) + len(sums)
    if grammar.infinite_fills and reducer in ("max", "min") and draw(st.booleans()):
        fill = -math.inf if reducer == "max" else math.inf
        body = draw(_accesses(grammar, count, depth - 1, fill))
    else:
        body = draw(_expressions(grammar, count, depth - 1, 2))
    return RawScope(loops, sums, reducer, body)


@st.composite
def _accesses(
    draw: st.DrawFn, grammar: Grammar, count: int, depth: int, fill: Fraction | float
) -> Raw:
    nested = depth > 0 and draw(st.booleans())
    source: Any = draw(_raw_scope(grammar, depth) if nested else st.sampled_from(TENSORS))
    dimensions = len(source.loops) if nested else len(source[2])
    row = raw_rows(count, floors=grammar.floors)
    chosen = tuple(draw(row) for _ in range(dimensions))
    return ("access", source, chosen, fill)


@st.composite
def _expressions(draw: st.DrawFn, grammar: Grammar, count: int, depth: int, height: int) -> Raw:
    kinds = ["access", "access", "number"]
    if height:
        kinds = ["access", "mul", "mul", "add"]
        kinds += ["apply"] * bool(grammar.functions) + ["power"] * bool(grammar.exponents)
        kinds += ["select"] * grammar.selects
    kind = draw(st.sampled_from(kinds))
    inner = _expressions(grammar, count, depth, height - 1)
    if kind == "access":
        return draw(_accesses(grammar, count, depth, draw(st.sampled_from(grammar.fills))))
    if kind == "number":
        return ("number", Fraction(draw(st.integers(-3, 3)), draw(st.integers(1, 2))))
    if kind == "apply":
        name = draw(st.sampled_from(grammar.functions))
        return ("apply", name, tuple(draw(inner) for _ in range(ARITY[name])))
    if kind == "power":
        return ("power", draw(inner), draw(st.sampled_from(grammar.exponents)))
    if kind == "select":
        relation = st.sampled_from((">=", ">=", "=="))
        condition = st.tuples(relation, raw_rows(count, floors=grammar.floors))
        conditions = tuple(draw(st.lists(condition, min_size=1, max_size=2)))
        return ("select", conditions, draw(inner), draw(inner))
    return (kind, tuple(draw(st.lists(inner, min_size=2, max_size=3))))


def row_value(raw: Raw, point: tuple[int, ...]) -> int:
    """The row at a point, read off the raw tree."""
    match raw:
        case ("number", constant):
            return constant
        case ("iterator", position):
            return point[position]
        case ("add", left, right):
            return row_value(left, point) + row_value(right, point)
        case ("scale", factor, row):
            return factor * row_value(row, point)
        case ("floordiv", row, divisor):
            return row_value(row, point) // divisor
        case ("modulo", row, divisor):
            return row_value(row, point) % divisor
    raise ValueError(raw)


def build_row(raw: Raw) -> Row:
    match raw:
        case ("number", value):
            return affine.constant(value)
        case ("iterator", position):
            return affine.iterator(position)
        case ("add", left, right):
            return affine.add(build_row(left), build_row(right))
        case ("scale", factor, row):
            return affine.scale(build_row(row), factor)
        case ("floordiv", row, divisor):
            return affine.floordiv(build_row(row), divisor)
        case ("modulo", row, divisor):
            return affine.modulo(build_row(row), divisor)
    raise ValueError(raw)


def build_expression(raw: Raw) -> Node:
    match raw:
        case ("number", value):
            return expr.const(value)
        case ("access", source, raw_index, fill):
            made = build(source) if isinstance(source, RawScope) else expr.tensor(*source[1:])
            return expr.access(made, map(build_row, raw_index), fill)
        case ("apply", name, args):
            return expr.apply(name, *map(build_expression, args))
        case ("power", base, exponent):
            return expr.power(build_expression(base), exponent)
        case ("mul", operands):
            return expr.mul(*map(build_expression, operands))
        case ("add", operands):
            return expr.add(*map(build_expression, operands))
        case ("select", conditions, then, otherwise):
            made_conditions = [Condition(relation, build_row(row)) for relation, row in conditions]
            branches = build_expression(then), build_expression(otherwise)
            return expr.select(made_conditions, *branches)
    raise ValueError(raw)


def build(raw: RawScope) -> Scope:
    """The scope of a raw scope, through the constructors."""
    return canon.scope(raw.loops, raw.sums, build_expression(raw.body), raw.reducer)
