"""Random terms, evaluated at every point of a box: no kind of value is left out."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite
from random import Random

import pytest

from einderive.ta.facts.kinds import finite_everywhere, kinds_over
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Const, Node, Number, Reducer
from tests.amount import first, sampled
from tests.fuzz.integers import Inexact
from tests.ta.facts.test_kinds import LONE, kept, unnamed, values_of

EXTENT = 4
FILLS: tuple[Number, ...] = (Fraction(0), Fraction(0), Fraction(1), Fraction(-2), inf, -inf)
NUMBERS: tuple[Number, ...] = (*map(Fraction, (-2, -1, 1, 3)), Fraction(1, 2), inf, -inf)
DEFINED = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
LEVEL = (
    *("tanh", "erf", "erfc", "sigmoid", "silu", "gelu", "softplus", "expm1", "atan", "cosh"),
    *(name for name, known in FUNCTIONS.items() if known.steps),
)
"""In float64 these are flat far from 0, or steps that are narrow there; they stand on a read only,
which is near."""
SMOOTH = ("exp", "exp2", "sin", "cos", "tan", "sinh", "asinh", "relu", "abs", "sign")


class _Terms:
    """Random terms over one iterator, of few tensors, so that numbers cancel; a function that is
    not defined everywhere stands on a read of positive data, or on what does not depend on the
    data."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def term(self, depth: int) -> Node:
        if not depth or self.random.random() < 0.15:
            return self.leaf()
        make = self.random.choice(
            (self.product, self.total, self.power, self.function, self.extreme, self.choice)
        )
        return make(depth - 1)

    def leaf(self) -> Node:
        roll = self.random.random()
        return self.number() if roll < 0.2 else self.read() if roll < 0.75 else self.nested()

    def number(self) -> Const:
        return expr.const(self.random.choice(NUMBERS))

    def read(self, initial: str = "U") -> Node:
        source = expr.tensor(f"{initial}{self.random.randint(1, 2)}", (EXTENT,))
        return expr.access(source, (self.row(),), self.random.choice(FILLS))

    def row(self) -> affine.Row:
        forward = self.random.random() < 0.7
        row = LONE if forward else affine.scale(LONE, -1)
        return affine.shift(row, self.random.randint(-1, 1) + (0 if forward else EXTENT - 1))

    def nested(self) -> Node:
        """A scope that is a box or a reduction, of a term of its own."""
        side = (self.random.choice((0, 0, -1)), self.random.choice((EXTENT, EXTENT, EXTENT - 1)))
        sums = [(0, self.random.choice((0, 1, 3)))] if self.random.random() < 0.6 else []
        body = self.term(1)
        if sums and self.random.random() < 0.5:
            body = expr.mul(body, self.along_the_sum())
        reducer: Reducer = self.random.choice(("sum", "prod", "max", "min"))
        source = make_scope([side], sums, body, reducer if sums else "sum")
        return expr.access(source, (self.row(),), self.random.choice(FILLS))

    def along_the_sum(self) -> Node:
        source = expr.tensor(f"U{self.random.randint(1, 2)}", (EXTENT,))
        return expr.access(source, (affine.shift(affine.iterator(1), 1),), Fraction(1))

    def product(self, depth: int) -> Node:
        return expr.mul(*(self.term(depth) for _ in range(self.random.randint(2, 3))))

    def total(self, depth: int) -> Node:
        terms = [self.term(depth) for _ in range(self.random.randint(1, 3))]
        return expr.add(*terms, self.number())

    def finite(self) -> Const:
        return expr.const(self.random.choice([n for n in NUMBERS if isfinite(n)]))

    def power(self, depth: int) -> Node:
        return expr.power(self.term(depth), self.random.choice((-3, -2, -1, -1, 2, 3)))

    def function(self, depth: int) -> Node:
        name = self.random.choice((*DEFINED, *LEVEL, *SMOOTH, *SMOOTH))
        if name in SMOOTH:
            return expr.apply(name, self.term(depth))
        if name in LEVEL or self.random.random() < 0.5:
            return expr.apply(name, self.read("U" if name in LEVEL else "P"))
        return expr.apply(name, self.without_data())

    def without_data(self) -> Node:
        body = expr.select([self.condition()], self.number(), self.number())
        other = expr.select([self.condition()], self.finite(), expr.const(0))
        return expr.mul(body, expr.apply("relu", other))

    def extreme(self, depth: int) -> Node:
        name = self.random.choice(("maximum", "minimum"))
        return expr.apply(name, self.term(depth), self.term(depth))

    def choice(self, depth: int) -> Node:
        conditions = [self.condition() for _ in range(self.random.randint(1, 2))]
        return expr.select(conditions, self.term(depth), self.term(depth))

    def condition(self) -> Condition:
        factor = self.random.choice((1, -1))
        relation = self.random.choice((">=", ">=", "=="))
        return kept(relation, factor, self.random.randint(-1, 1) + (factor < 0) * (EXTENT - 1))


@sampled(2)
@pytest.mark.parametrize("seed", first(20, range(100)))
def test_no_kind_is_left_out(seed: int) -> None:
    seen = 0
    for number in range(50):
        random = Random(f"{seed} {number}")
        try:
            body = _Terms(random).term(3)
            lo = random.choice((0, 0, -1))
            scope = make_scope([(lo, lo + EXTENT + random.choice((0, 0, 1)))], (), body)
            values = values_of(scope).tolist()
        except (ValueError, Inexact):  # infinities of opposite sign, numbers beyond float64
            continue
        found = kinds_over(scope.body, scope.loops)
        assert unnamed(found, values) == [], scope
        if finite_everywhere(scope.body):
            assert all(map(isfinite, values)), scope
        seen += 1
    assert seen > 25
