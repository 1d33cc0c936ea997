"""The values that a kernel computes: each in its own type, by the fewest steps, and once."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.bodies import Bodies
from einderive.eops.loops.drafts.draft import drafted
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.picks import picked
from einderive.eops.loops.drafts.values import Operation, Value
from einderive.ta.ir.node import Node
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import check
from tests.eops.loops.test_digits import results
from tests.eops.loops.test_gathers import group_of, values

NUMBERS = {
    "a difference decides, and 1 - 1 is 0": (
        "Y[i] = where(X[i] - W[i], 1, 2)",
        {"X": [1.0, 2.0], "W": [1.0, 3.0]},
        [2, 1],
    ),
    "a product decides, which is 0 in its own type": (
        "Y[i] = where(X[i]*W[i], 1, 2)",
        {"X": [1e-200, 2.0], "W": [1e-200, 3.0]},
        [2, 1],
    ),
    "a difference of integers decides, which floats lose": (
        "Y[i] = where(I[i] - J[i], A[i], 2)",
        {"I": [2**53 + 1, 2], "J": [2**53, 2], "A": [7.0, 8.0]},
        [7.0, 2.0],
    ),
    "a product beside floats is one of floats": (
        "Y[i] = A[i]*floor(I[i]*J[i])",
        {"I": [2**32, 2], "J": [2**32, 4], "A": [1.0, 1.0]},
        [2.0**64, 8.0],
    ),
    "a total of integers is squared as a float": (
        "S = sum[j](I[j]*J[j]); Y[i] = A[i] + S^2",
        {"I": [2**20, 0], "J": [2**20, 1], "A": [0.0, 2.0**30]},
        [2.0**80, 2.0**80 + 2.0**30],
    ),
}


@pytest.mark.parametrize(("text", "inputs", "expected"), NUMBERS.values(), ids=NUMBERS)
def test_the_type_of_a_value_counts(
    text: str, inputs: dict[str, list[float]], expected: list[float]
) -> None:
    for (found,) in results(text, {name: np.array(value) for name, value in inputs.items()}):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("text", "exponent"), [("1.5", 1.5), ("2.5", 2.5), ("(1/3)", 1 / 3), ("(-2.5)", -2.5)]
)
def test_powers_by_their_exponent(text: str, exponent: float) -> None:
    data = np.array([0.5, 2.0, 9.0])
    for (found,) in results(f"Y[i] = X[i]^{text}", {"X": data}):
        np.testing.assert_allclose(found, data**exponent, rtol=1e-14)


SAID = {
    "a power by its root": ("Y[i] = X[i]^1.5", {"X": (9,)}, "sqrt(", "pow("),
    "digits that decide are compared with 0": (
        "Y[i] = where(bitwise_and(I[i], J[i]), X[i], 2)",
        {"I": (9,), "J": (9,), "X": (9,)},
        "not_equal(",
        "bool(",
    ),
    "an index that no data decide": (
        "Y[n,d] = E[I[n],d]",
        {"E": (5, 3), "I": (4,)},
        "p0[i1 + 3*v0]",
        "0*v",
    ),
}


@pytest.mark.parametrize(("text", "shapes", "said", "other"), SAID.values(), ids=SAID)
def test_how_a_value_is_made(
    text: str, shapes: dict[str, tuple[int, ...]], said: str, other: str
) -> None:
    group = group_of(text, **shapes)
    made = str(plan(group, dense(group)))
    assert said in made
    assert other not in made


GATHERS = {
    "beside an index": ("Y[n] = sum[v](where(I[n] == v, n*E[v], 0))", {"E": (5,), "I": (4,)}),
    "beside a read that may miss": (
        "Y[n] = sum[v](where(I[n] == v, W[n-1]*E[v], 0))",
        {"E": (5,), "I": (4,), "W": (4,)},
    ),
    "of which terms are added up": (
        "Y[n] = sum[v,k](where(I[n] == v, W[k]*E[v,k], 0))",
        {"E": (5, 4), "I": (4,), "W": (4,)},
    ),
    "beside a value that the kernel computes": (
        "T[n] = exp(W[n]); Y[n] = sum[v](where(I[n] == v, T[n]*E[v], 0))",
        {"E": (5,), "I": (4,), "W": (4,)},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), GATHERS.values(), ids=GATHERS)
def test_only_what_is_read_at_the_computed_index_is_a_gather(
    text: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    group = group_of(text, **shapes)
    assert picked(group.outputs[0]) is not None
    for number in range(3):
        random = Random(f"{number} {text}")
        assert check(group, values(random, shapes), random)


def test_a_value_is_made_once_however_often_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stage reads the one before twice: anew for each read, it would take 2^12 steps."""
    chain = [f"T{k}[i] = T{k - 1}[i] + exp(T{k - 1}[i])" for k in range(1, 13)]
    roots = parse("; ".join(["T0[i] = X[i]", *chain]), {"X": (9,)}, "float32").roots()
    group, made, count = Group(tuple(stages(*roots)), roots), Bodies._made, 0

    def counted(bodies: Bodies, node: Node, kind: str, at: Any) -> Value:
        nonlocal count
        count += 1
        return made(bodies, node, kind, at)

    monkeypatch.setattr(Bodies, "_made", counted)
    assert drafted(group, dense(group), alike(group, "float32"))
    assert count < 100


def test_a_product_is_one_value_in_either_order() -> None:
    text = "V[i] = W[i] + 1; A[i] = exp(X[i]*(W[i] + 1)); Y[i] = A[i] + sin(X[i]*V[i])"
    roots = parse(text, {"X": (9,), "W": (9,)}, "float32").roots()
    group = Group(tuple(stages(*roots)), roots)
    made = plan(group, dense(group))
    assert made is not None
    assert [isinstance(one, Operation) and one.word for one in made.values].count("*") == 1
