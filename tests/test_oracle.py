"""The judge of the tests: identities pass it, and differences are found where they are."""

import pytest

from einderive.ta.exact.fields import random_values
from einderive.ta.exact.interp import evaluate_at, input_tensors
from einderive.ta.ir import affine, canon, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Condition, Node, Scope
from tests.oracle import equal

X = affine.iterator(0)


def vector(body: Node, extent: int = 6) -> Scope:
    return canon.scope([(0, extent)], [], body)


def read(name: str, row: Row = X) -> Node:
    return expr.access(expr.tensor(name, (6,)), [row])


A, B, C = read("A"), read("B"), read("C")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            expr.mul(A, expr.add(B, C)),
            expr.add(expr.mul(A, B), expr.mul(A, C)),
        ),
        (
            expr.power(expr.subtract(A, B), 2),
            expr.add(expr.power(A, 2), expr.mul(expr.const(-2), A, B), expr.power(B, 2)),
        ),
        (
            expr.apply("exp", expr.mul(A, expr.add(B, C))),
            expr.apply("exp", expr.add(expr.mul(A, B), expr.mul(A, C))),
        ),
        (
            expr.apply("relu", expr.mul(expr.const(2), A)),
            expr.mul(expr.const(2), expr.apply("relu", A)),
        ),
        (
            expr.apply("maximum", expr.add(A, C), expr.add(B, C)),
            expr.add(C, expr.apply("maximum", A, B)),
        ),
    ],
)
def test_identities_are_equal(left: Node, right: Node):
    assert equal(vector(left), vector(right), seeds=range(3)) is None
    assert equal(vector(left), vector(right), samples=3) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (expr.mul(A, B), expr.mul(A, C)),
        (A, read("A", affine.modulo(affine.shift(X, 1), 7))),
        (expr.apply("relu", expr.mul(expr.const(-2), A)), expr.apply("relu", A)),
        (expr.apply("exp", A), expr.apply("tanh", A)),
    ],
)
def test_differences_are_found(left: Node, right: Node):
    found = equal(vector(left), vector(right))
    assert found is not None
    assert found.left != found.right
    data = random_values(input_tensors(vector(left), vector(right)), found.field, found.seed)
    for side, value in ((left, found.left), (right, found.right)):
        again = evaluate_at(vector(side), [found.point], data, found.field)
        assert again.tolist() == [value]


def test_a_difference_at_one_point_only():
    last = Condition("==", affine.shift(X, -5))
    found = equal(vector(A), vector(expr.select([last], B, A)))
    assert found is not None
    assert found.point == (5,)
    with pytest.raises(ValueError, match="loops differ"):
        equal(vector(A), vector(A, 5))
