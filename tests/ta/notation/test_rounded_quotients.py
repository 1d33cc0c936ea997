"""`//` and `%` of values: Python's, from left to right; of indices they stay indices."""

from __future__ import annotations

import numpy as np
import pytest

import einderive as ed
from einderive.ta.errors import TextError
from einderive.ta.exact.interp import evaluate
from einderive.ta.exact.rationals import ExactField
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import sources

A = np.array([-7, -3, 0, 2, 5, 9])
I = np.arange(6)  # noqa: E741  # the values of the iterator i
VALUES = {
    "A[i]//3": A // 3,
    "A[i]%3": A % 3,
    "A[i]%-4": A % -4,
    "-A[i]//2": -A // 2,
    "2*A[i]//3*A[i]": 2 * A // 3 * A,
    "A[i]*i//2%3": A * I // 2 % 3,
    "A[i]//(i+1)": A // (I + 1),
    "i//2*A[i]": I // 2 * A,
    "i*2%3*A[i] + i%4": I * 2 % 3 * A + I % 4,
    "7//2*A[i] - -7//2": 7 // 2 * A - -7 // 2,
    "A[i] + i//2*(i%3)": A + I // 2 * (I % 3),
    "A[i] + i%3*i//2*2": A + I % 3 * I // 2 * 2,
    "(A[i]//2)^2": (A // 2) ** 2,
    "sum[k](A[k]//2)*A[i]": (A // 2).sum() * A,
    "where(A[i]%2 == 0, A[i]//2, 3*A[i]+1)": np.where(A % 2 == 0, A // 2, 3 * A + 1),
    "c//2 + A[i]%c": 5 // 2 + A % 5,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_are_as_in_python(text: str) -> None:
    given = {"A": (6,)} | ({"c": ()} if "c" in text.replace("where", "") else {})
    program = ed.parse(f"Y[i] = {text}", dtypes="int64", **given)
    assert ed.parse(str(program), dtypes="int64", **given).roots() == program.roots()
    (root,) = program.roots()
    found = evaluate(root, {"A": A, "c": np.array(5)}, ExactField())
    assert [int(x) for x in found.ravel()] == VALUES[text].tolist()


def test_of_iterators_they_are_indices() -> None:
    (root,) = ed.parse("Y[i] = (i//2)*A[i]", A=(6,)).roots()
    assert INDEX in sources(root.body)
    assert "floor_divide" not in str(root)


@pytest.mark.parametrize("text", ["A[i,k]//2", "A[i,k]*A[i,k]%2", "x[i]//A[i,k]"])
def test_an_implicit_sum_is_refused_inside(text: str) -> None:
    """Is it a sum of rounded numbers, or a rounded sum?"""
    given = {name: shape for name, shape in {"A": (3, 4), "x": (3,)}.items() if name in text}
    with pytest.raises(TextError, match="k is not on the left and occurs only inside"):
        ed.parse(f"Y[i] = {text}", **given)


def test_an_index_that_is_data_may_have_them() -> None:
    E, N = np.arange(10).reshape(5, 2), np.array([1, 4, 7, 9, 12, -1])
    types = {"E": "int64", "N": "int64"}
    (root,) = ed.parse("Y[n,d] = E[N[n]//2,d]", dtypes=types, E=(5, 2), N=(6,)).roots()
    padded = np.vstack([E, [[0, 0], [0, 0]]])  # the row 6 and the row -1 lie outside
    found = evaluate(root, {"E": E, "N": N}, ExactField())
    assert [[int(x) for x in row] for row in found] == padded[N // 2].tolist()
    (root,) = ed.parse("Y[N[n]%3] += 1", dtypes="int64", N=(6,), Y=(3,)).roots()
    found = evaluate(root, {"N": N}, ExactField())
    assert [int(x) for x in found] == np.bincount(N % 3).tolist()
