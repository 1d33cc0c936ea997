"""Functions of the binary digits of integers: as NumPy has them; refused elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.exact.rationals import ExactField
from einderive.ta.notation.parse import parse

DATA = {
    "K": np.array([5, -7, 0, 2**40 + 1, -(2**40)]),
    "J": np.array([3, 1, 62, 5, 0]),
    "S": np.array([5, -7, 0, 127, -128], dtype=np.int8),
    "M": np.array([True, False, True, False, True]),
    "N": np.array([True, True, False, False, True]),
    "A": np.array([0.5, -1.5, 2.0, 3.0, 1.0], dtype=np.float32),
}
CASES: dict[str, Callable[..., Any]] = {
    "bitwise_and(K[i],J[i])": lambda K, J, **_: K & J,
    "bitwise_or(K[i],-J[i])": lambda K, J, **_: K | -J,
    "bitwise_xor(K[i],J[i])": lambda K, J, **_: K ^ J,
    "bitwise_invert(K[i])": lambda K, **_: ~K,
    "bitwise_left_shift(J[i],3)": lambda J, **_: J << 3,
    "bitwise_right_shift(K[i],J[i])": lambda K, J, **_: K >> J,
    "bitwise_and(S[i],15)": lambda S, **_: S & np.int8(15),
    "bitwise_and(M[i],N[i])": lambda M, N, **_: M & N,
    "bitwise_xor(M[i],N[i])": lambda M, N, **_: M ^ N,
    "bitwise_or(M[i],A[i] > 1)": lambda M, A, **_: M | (A > 1),
    "bitwise_invert(M[i])": lambda M, **_: ~M,
    "bitwise_and(K[i],7)*A[i]": lambda K, A, **_: ((K & 7) * A).astype(np.float32),
    "bitwise_and(K[i],1)*A[i]+J[i]": lambda K, J, A, **_: ((K & 1) * A + J).astype(np.float32),
    "bitwise_xor(i,2)": lambda **_: np.arange(5) ^ 2,
    "sum[k](bitwise_and(K[k],J[i]))": lambda K, J, **_: (K[None] & J[:, None]).sum(1),
    "where(bitwise_and(K[i],1) == 1,A[i],0)": lambda K, A, **_: np.where(K & 1 == 1, A, 0),
}


def given(text: str) -> dict[str, np.ndarray[Any, Any]]:
    return {name: DATA[name] for name in DATA if f"{name}[" in text}


@pytest.mark.parametrize("text", CASES)
def test_as_numpy(text: str) -> None:
    data = given(text)
    shapes = dict.fromkeys(data, (5,))
    types = {name: value.dtype.name for name, value in data.items()}
    line = f"Y[i] = {text} where i in 0:5"
    (root,) = parse(line, shapes, types or "int64").roots()
    expected = CASES[text](**data)
    tensors = {each: torch.from_numpy(data[each.name]) for each in input_tensors(root)}
    found = lower(root)(tensors).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    for field in (RealField(), ExactField()):
        values = {name: np.asarray(value) for name, value in data.items()}
        if isinstance(field, RealField):
            values = {name: value.astype(np.float64) for name, value in values.items()}
        elif "A" in data:
            continue
        np.testing.assert_array_equal(evaluate(root, values, field).astype(float), expected)


@pytest.mark.parametrize("text", ["bitwise_and(A[i],1)", "bitwise_invert(A[i])"])
def test_floats_are_refused(text: str) -> None:
    with pytest.raises(ed.EinderiveError, match="takes integers and bools") as refused:
        ed.parse(f"Y[i] = {text}", A=(4,))
    assert "dtypes={'A': 'int64'}" in str(refused.value)


@pytest.mark.parametrize("text", ["A[i]/2", "sqrt(A[i])", "2^(-A[i])", "A{fill=inf}[i-1]+A[i]"])
def test_so_is_what_may_be_no_integer(text: str) -> None:
    with pytest.raises(ed.EinderiveError, match="may be no integer"):
        ed.parse(f"Y[i] = bitwise_xor({text},1)", A=(4,), dtypes="int64")


@pytest.mark.parametrize(
    ("text", "dtype", "printed"),
    [
        ("T[i] = A[i]//2 + 3; Y[i] = bitwise_and(T[i],1)", "int64", "bitwise_and("),
        ("T[i] = A[i] < 2; Y[i] = bitwise_invert(T[i])", "float32", "T[i] == 0"),
        ("T = sum[i](A[i]); Y = bitwise_invert(T)", "bool", "-T - 1"),
        ("T[i] = argmax[k](A[k]+i) where i in 0:4; Y[i] = bitwise_or(T[i],1)", "float32", ""),
        ("T[i] = A[i]/2; Y[i] = bitwise_and(T[i],1)", "int64", "refused"),
    ],
)
def test_earlier_statements_have_the_type_of_their_values(
    text: str, dtype: str, printed: str
) -> None:
    if printed == "refused":
        with pytest.raises(ed.EinderiveError, match="may be no integer"):
            ed.parse(text, A=(4,), dtypes=dtype)
    else:
        assert printed in str(ed.parse(text, A=(4,), dtypes=dtype)).splitlines()[-1]


def test_a_step_beside_floats_keeps_the_digits() -> None:
    """Steps may join the stage of integers with one of floats."""
    text = "T[i] = bitwise_xor(K[i],1099511627776); Y[i] = T[i]*A[i]"
    data = {name: torch.from_numpy(DATA[name]) for name in "KA"}
    expected = torch.from_numpy(((DATA["K"] ^ 2**40) * DATA["A"]).astype(np.float32))
    compiled = ed.compile(text, **data, budget=0.3)
    torch.testing.assert_close(compiled(**data), expected)


def test_equal_formulas_of_digits() -> None:
    same = "Y[i] = bitwise_and(B[i],A[i])+A[i]-A[i]"
    assert ed.equivalent("Y[i] = bitwise_and(A[i],B[i])", same, A=(4,), B=(4,), dtypes="int64")
    other = "Y[i] = bitwise_or(A[i],B[i])"
    found = ed.equivalent("Y[i] = bitwise_and(A[i],B[i])", other, A=(4,), B=(4,), dtypes="int64")
    assert found.kind == "different"
