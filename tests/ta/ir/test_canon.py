"""The constructors against a direct reading of the raw tree, and the canonical form itself."""

import math
from fractions import Fraction
from functools import reduce
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from einderive.ta.exact.fields import ModularField, random_values
from einderive.ta.exact.interp import evaluate, evaluate_at
from einderive.ta.exact.rationals import ExactField
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, canon, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Condition
from tests.amount import examples
from tests.strategies import (
    ARITHMETIC,
    Grammar,
    Raw,
    RawScope,
    build,
    raw_scopes,
    row_value,
    tensors_of,
)

EXACT = ExactField()
Point = tuple[int, ...]


def drawn(count: int) -> settings:
    return settings(
        max_examples=examples(count),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


class UndefinedError(ArithmeticError):
    """1/0, or the sum of two opposite infinities."""


class Naive:
    """Reads a raw tree by nested loops over Python numbers: nothing is shared with the project but
    the arbitrary values of opaque functions."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.known: dict[tuple[int, Point], Any] = {}

    def scope(self, scope: RawScope, point: Point) -> Any:
        key = (id(scope), point)
        if key not in self.known:
            try:
                self.known[key] = self.reduction(scope, point)
            except UndefinedError as error:
                self.known[key] = error
        found = self.known[key]
        if isinstance(found, UndefinedError):
            raise found
        return found

    def reduction(self, scope: RawScope, point: Point) -> Any:
        inner = product(*(range(*bound) for bound in scope.sums))
        values = [self.value(scope.body, point + rest) for rest in inner]
        if scope.reducer == "sum":
            return reduce(plus, values, Fraction(0))
        if scope.reducer == "prod":
            return reduce(times, values, Fraction(1))
        return max([-math.inf, *values]) if scope.reducer == "max" else min([math.inf, *values])

    def value(self, raw: Raw, point: Point) -> Any:
        match raw:
            case ("number", number):
                return Fraction(number)
            case ("access", source, rows, fill):
                index = tuple(row_value(row, point) for row in rows)
                nested = isinstance(source, RawScope)
                bounds = source.loops if nested else [(0, extent) for extent in source[2]]
                if any(not low <= i < high for i, (low, high) in zip(index, bounds, strict=True)):
                    return fill
                return self.scope(source, index) if nested else self.values[source[1]][index]
            case ("apply", name, args):
                values = [self.value(arg, point) for arg in args]
                exact = FUNCTIONS[name].pieces
                if exact is not None:
                    return exact(*values)
                (arg,) = values
                result = EXACT.apply(name, EXACT.constant(arg)).item()
                if result != result:
                    raise UndefinedError
                return result
            case ("power", base, exponent):
                factor = self.value(base, point)
                product_ = reduce(times, [factor] * abs(exponent), Fraction(1))
                return inverse(product_) if exponent < 0 else product_
            case ("mul", operands):
                return reduce(times, [self.value(operand, point) for operand in operands])
            case ("add", operands):
                return reduce(plus, [self.value(operand, point) for operand in operands])
            case ("select", conditions, then, otherwise):
                values = [(relation, row_value(row, point)) for relation, row in conditions]
                taken = all(v >= 0 if relation == ">=" else v == 0 for relation, v in values)
                return self.value(then if taken else otherwise, point)
        raise ValueError(raw)


def plus(left: Any, right: Any) -> Any:
    total = left + right
    if total != total:
        raise UndefinedError
    return total


def times(left: Any, right: Any) -> Any:
    return Fraction(0) if left == 0 or right == 0 else left * right


def inverse(value: Any) -> Any:
    if value == 0:
        raise UndefinedError
    return Fraction(0) if isinstance(value, float) else 1 / value


def check_against_naive(raw: RawScope) -> None:
    scope = build(raw)
    assert scope.loops == raw.loops
    data = random_values(tensors_of(scope), EXACT)
    full = data | random_values((expr.tensor(*t[1:]) for t in raw_tensors(raw)), EXACT)
    naive, points = Naive(full), list(product(*(range(*loop) for loop in raw.loops)))
    found = evaluate(scope, data, EXACT).reshape(-1)
    assert len(found) == len(points)
    index = np.array(points, dtype=np.int64).reshape(len(points), len(scope.loops))
    assert not EXACT.differs(found, evaluate_at(scope, index, data, EXACT)).any()
    for point, value in zip(points, found, strict=True):
        try:
            expected = naive.scope(raw, point)
        except UndefinedError:
            continue
        assert value == expected, point


def raw_tensors(raw: Any) -> list[Raw]:
    """The tensors of a raw tree, also those that the constructors resolve away."""
    if isinstance(raw, tuple) and raw and raw[0] == "tensor":
        return [raw]
    return [t for part in raw for t in raw_tensors(part)] if isinstance(raw, tuple) else []


@drawn(200)
@given(raw_scopes())
def test_a_scope_has_the_value_of_its_tree(raw: RawScope):
    check_against_naive(raw)


@drawn(120)
@given(raw_scopes(Grammar(min_extent=0, max_extent=2, max_loops=2)))
def test_empty_ranges_have_the_value_of_their_tree(raw: RawScope):
    check_against_naive(raw)


@drawn(120)
@given(raw_scopes(Grammar(max_depth=1, max_sums=4, max_extent=3, selects=False)), st.randoms())
def test_order_of_operands_and_sums_does_not_matter(raw: RawScope, random: Random):
    assert build(shuffled(raw, random)) is build(raw)


def shuffled(raw: Any, random: Random) -> Any:
    """The tree with sums and operands in another order."""
    if isinstance(raw, RawScope):
        first, count = len(raw.loops), len(raw.sums)
        order = random.sample(range(count), count)
        moved = {first + old: first + new for new, old in enumerate(order)}
        body = shuffled(renamed(raw.body, moved), random)
        return raw._replace(sums=tuple(raw.sums[old] for old in order), body=body)
    match raw:
        case ("mul" | "add" as kind, tuple() as operands):
            mixed = [shuffled(operand, random) for operand in operands]
            return (kind, tuple(random.sample(mixed, len(mixed))))
        case tuple() if not isinstance(raw, Range):
            return tuple(shuffled(part, random) for part in raw)
    return raw


def renamed(raw: Any, moved: dict[int, int]) -> Any:
    """The body with iterators at other positions; nested scopes have their own."""
    match raw:
        case ("iterator", position):
            return ("iterator", moved.get(position, position))
        case tuple() if not isinstance(raw, RawScope):
            return tuple(renamed(part, moved) for part in raw)
    return raw


@drawn(80)
@given(raw_scopes(ARITHMETIC))
def test_modular_values_are_the_residues_of_exact_ones(raw: RawScope):
    scope, field = build(raw), ModularField()
    exact = random_values(tensors_of(scope), EXACT)
    residues = {name: residues_of(values) for name, values in exact.items()}
    expected = residues_of(evaluate(scope, exact, EXACT))
    assert (evaluate(scope, residues, field) == expected).all()


def residues_of(values: Any) -> Any:
    prime = ModularField().prime
    flat = [v.numerator * pow(v.denominator, -1, prime) % prime for v in values.reshape(-1)]
    return np.array(flat, dtype=np.uint64).reshape(values.shape)


X, Y, Z = (affine.iterator(position) for position in range(3))
A, B = expr.tensor("A", (4, 5)), expr.tensor("B", (5, 6))


def test_equality_is_identity():
    left = expr.mul(expr.access(A, [X, Z]), expr.access(B, [Z, Y]))
    right = expr.mul(expr.access(B, [Z, Y]), expr.access(A, [X, Z]))
    box = [(0, 4), (0, 6)]
    assert canon.scope(box, [(0, 5)], left) is canon.scope(box, [(0, 5)], right)
    assert canon.scope(box, [(0, 5)], left) is not canon.scope(box, [(0, 4)], left)
    assert canon.scope(box, [(0, 5)], left) is not canon.scope(box, [(0, 5)], left, "max")


@pytest.mark.parametrize(
    ("reducer", "expected"),
    [
        ("sum", lambda a: expr.mul(expr.const(7), a)),
        ("prod", lambda a: expr.power(a, 7)),
        ("max", lambda a: a),
        ("min", lambda a: a),
    ],
)
def test_an_idle_reduction_is_dropped(reducer, expected):
    body = expr.access(A, [X, Y])
    made = canon.scope([(0, 4), (0, 5)], [(0, 7)], body, reducer)
    assert made is canon.scope([(0, 4), (0, 5)], [], expected(body))


def test_reads_that_always_miss_become_the_fill():
    missed = expr.access(A, [affine.shift(X, 4), Y], Fraction(1, 3))
    made = canon.scope([(0, 4), (0, 5)], [], expr.mul(missed, expr.access(A, [X, Y])))
    third = expr.mul(expr.const(Fraction(1, 3)), expr.access(A, [X, Y]))
    assert made is canon.scope([(0, 4), (0, 5)], [], third)


def test_decided_conditions_are_resolved():
    always = Condition(">=", affine.shift(X, 1))
    never = Condition("==", affine.shift(Y, -9))
    read = expr.access(A, [X, Y])
    box = [(0, 4), (0, 5)]
    plain = canon.scope(box, [], read)
    assert canon.scope(box, [], expr.select([always], read, expr.const(1))) is plain
    assert canon.scope(box, [], expr.select([always, never], expr.const(1), read)) is plain


@pytest.mark.parametrize(
    ("loops", "body", "reason"),
    [
        ([(0, 4)], expr.access(A, [X, Y]), "iterator"),
        ([(0, 4), (3, 1)], expr.access(A, [X, Y]), "ends before"),
    ],
)
def test_ill_formed_scopes_are_refused(loops, body, reason: str):
    with pytest.raises(ValueError, match=reason):
        canon.scope(loops, [], body)


def test_what_differs_from_itself_is_nan():
    a, b = (expr.access(expr.tensor(name, (4,)), [affine.iterator(0)]) for name in "ab")
    zero = expr.const(0)
    assert expr.apply("not_equal", a, a) is expr.apply("isnan", a)
    assert expr.apply("equal", expr.apply("isnan", a), zero) is expr.apply("equal", a, a)
    assert expr.apply("equal", expr.apply("equal", a, a), zero) is expr.apply("isnan", a)
    assert expr.apply("not_equal", expr.apply("isnan", a), zero) is expr.apply("isnan", a)
    assert expr.apply("not_equal", a, b) is not expr.apply("isnan", a)
    assert expr.apply("equal", expr.apply("isinf", a), zero).function == "equal"
