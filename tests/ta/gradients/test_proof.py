"""The proof by dual numbers refuses wrong derivatives, and agrees with forward differences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest

import einderive as ed
from einderive.ta.equality.primes import primes
from einderive.ta.exact.fields import ModularField, halves, pair
from einderive.ta.gradients.duals import DrawnField, DualField
from einderive.ta.gradients.program import Derived
from einderive.ta.gradients.proof import decide
from einderive.ta.notation.parse import tensors_named

WRONG: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("Y[i] = A[i]^3", {"A": (4,)}, "dA[i] = 2*A[i]^2*dY[i]"),
    ("Y[i] = exp(A[i])", {"A": (4,)}, "dA[i] = dY[i]"),
    ("Y[i] = relu(A[i])", {"A": (4,)}, "dA[i] = dY[i]"),
    ("Y[i] = clip(A[i], 0, 1)", {"A": (4,)}, "dA[i] = where(A[i] > 0, dY[i], 0)"),
    ("Y[i] = maximum(A[i], 1)", {"A": (4,)}, "dA[i] = where(A[i] < 1, dY[i], 0)"),
    ("Y = max[i](A[i])", {"A": (4,)}, "dA[i] = where(A[i] == min[k](A[k]), dY, 0)"),
    ("Y[i] = A[i+k]*2 where i in 0:3, k in 0:2", {"A": (4,)}, "dA[i] = 2*dY[i] where i in 0:4"),
    ("Y = prod[i](A[i])", {"A": (4,)}, "dA[i] = prod[k](A[k])*dY where i in 0:4"),
    ("Y[n] = A[I[n]]", {"A": (4,), "I": (5,)}, "dA[i] = sum[n](where(I[n] <= i, dY[n], 0))"),
    ("Y[i] = A[i]", {"A": (4,)}, "dA[i] = where(i < 3, dY[i], 0)"),
]


@pytest.mark.parametrize(("text", "shapes", "wrong"), WRONG)
def test_wrong_gradients_are_refused(text: str, shapes: dict[str, Any], wrong: str) -> None:
    types = {name: "int64" if name == "I" else "float64" for name in shapes}
    found = ed.grad(text, dtypes=types, **shapes)
    assert found.of is not None
    known = shapes | {"dY": found.of.outputs[0].scope.shape}
    given = {name: known[name] for name in tensors_named(wrong)[0] & known.keys()}
    types = {name: "int64" if name == "I" else "float64" for name in given}
    other = ed.parse(wrong, dtypes=types, **given, dA=(4,))
    tensors = [tensor for tensor in found.of.inputs if tensor.name == "A"]
    derived = Derived(other, {"Y": "dY"}, {"A": "dA"})
    decision = decide(found.of, derived, tensors, forward=False)
    assert decision.difference is not None
    assert decision.difference.output == "dA"
    assert decision.difference.true != decision.difference.found


def test_a_difference_names_the_first_element_that_is_wrong() -> None:
    found = ed.grad("Y[i] = A[i]", A=(7,))
    wrong = ed.parse("dA[i] = where(i == 5, 2*dY[i], dY[i])", dY=(7,))
    verdict = replace(found, statements=wrong.statements).check()
    assert verdict.kind == "different"
    assert verdict.counterexample is not None
    assert verdict.counterexample.point == (5,)


def test_too_large_programs_are_undecided() -> None:
    verdict = ed.grad("Y[i,j] = A[i,k]*B[k,j]", A=(400, 400), B=(400, 400)).check()
    assert verdict.kind == "undecided"
    assert "smaller shapes" in verdict.detail


PRIME: Final = next(primes("duals"))
DUALS: Final = DualField(PRIME)


def dual(value: int, tangent: int) -> Any:
    field = ModularField(PRIME)
    return pair(field.convert(np.array(value)), field.convert(np.array(tangent)))


def numbers(number: Any) -> tuple[int, int]:
    value, tangent = halves(number)
    return int(value), int(tangent)


def test_arithmetic_of_duals() -> None:
    a, b = dual(3, 5), dual(7, 11)
    assert numbers(DUALS.add(a, b)) == (10, 16)
    assert numbers(DUALS.multiply(a, b)) == (21, 3 * 11 + 7 * 5)
    assert numbers(DUALS.power(a, 3)) == (27, 27 * 5)
    inverse = DUALS.power(a, -1)
    assert numbers(DUALS.multiply(a, inverse)) == (1, 0)
    several = np.stack([a, b, dual(2, 1)])
    assert numbers(DUALS.reduce("prod", several, 1)) == (42, 5 * 14 + 11 * 6 + 21)
    assert numbers(DUALS.reduce("max", several, 1)) in [(3, 5), (7, 11), (2, 1)]
    exp = DUALS.apply("exp", a)
    assert numbers(exp)[1] == numbers(exp)[0] * 5 % PRIME


def test_drawn_comparisons_go_one_way_or_the_other() -> None:
    field = DrawnField(PRIME)
    x = field.random((200,), np.random.default_rng(0))
    minus = field.multiply(field.constant(Fraction(-1)), x)
    assert (field.positive(x) ^ field.positive(minus)).all()
    assert 60 < field.positive(x).sum() < 140
    y = x[::-1]
    less, greater = field.apply("less", x, y), field.apply("less", y, x)
    assert ((less + greater + (x == y)) == 1).all()
    chosen = field.apply("maximum", x, y)
    assert (chosen == np.where(greater == 1, x, y)).all()
    assert (field.apply("abs", x) == np.where(field.positive(x), x, minus)).all()
    assert (field.apply("relu", x) == np.where(field.positive(x), x, 0)).all()
