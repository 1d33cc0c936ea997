"""Parts of complex numbers: as NumPy has them, in real numbers where nothing else comes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower_all
from einderive.ta.exact.fields import ComplexField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.notation.parse import parse

rng = np.random.default_rng(0)
DATA = {
    "A": rng.standard_normal(5),
    "J": np.array([3, 0, 4, 1, 1]),
    "Z": rng.standard_normal(5) + 1j * rng.standard_normal(5),
}
CASES: dict[str, Callable[..., Any]] = {
    "conj(Z[i])": lambda Z, **_: Z.conj(),
    "real(Z[i])": lambda Z, **_: Z.real,
    "imag(Z[i])*A[i]": lambda Z, A, **_: Z.imag * A,
    "abs(Z[i])+A[i]": lambda Z, A, **_: abs(Z) + A,
    "angle(Z[i])": lambda Z, **_: np.angle(Z),
    "real(A[i])+imag(A[i])+conj(A[i])": lambda A, **_: 2 * A,
    "maximum(real(Z[i]),imag(Z[i]))*Z[i]": lambda Z, **_: np.maximum(Z.real, Z.imag) * Z,
    "sum[k](Z[k]*conj(Z[k]))+0*i": lambda Z, **_: np.full(5, (Z * Z.conj()).sum()),
    "sum[k](abs(Z[k])*A[i+k-1])": lambda Z, A, **_: np.correlate(
        np.pad(A, (1, 4)), abs(Z), "valid"
    )[:5],
    "abs(1j*A[i]-2)": lambda A, **_: abs(1j * A - 2),
    "imag(exp(1j*A[i]))": lambda A, **_: np.sin(A),
    "where(real(Z[i]) > 0,abs(Z[i])+1,0)": lambda Z, **_: np.where(Z.real > 0, abs(Z) + 1, 0),
    "imag(Z[J[i]])": lambda Z, J, **_: Z[J].imag,
    "isnan(real(Z[i]))": lambda Z, **_: np.isnan(Z),
    "conj(Z[i-1])": lambda Z, **_: np.pad(Z.conj(), (1, 0))[:5],
}


@pytest.mark.parametrize("text", CASES)
def test_as_numpy(text: str) -> None:
    data = {name: DATA[name] for name in DATA if f"{name}[" in text}
    types = {name: value.dtype.name for name, value in data.items()}
    line = f"Y[i] = {text} where i in 0:5"
    (root,) = parse(line, dict.fromkeys(data, (5,)), types).roots()
    expected = CASES[text](**data)
    tensors = {each: torch.from_numpy(data[each.name]) for each in input_tensors(root)}
    found = lower_all(root)(tensors).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected)
    values = {name: value.astype(np.complex128) for name, value in data.items()}
    if "J" not in data:
        np.testing.assert_allclose(evaluate(root, values, ComplexField()), expected)


def test_of_real_numbers_the_parts_are_written_out() -> None:
    same = {"conj(A[i])": "A[i]", "real(A[i])": "A[i]", "imag(A[i])": "0*A[i]"}
    for text, plain in same.items():
        (one,), (other,) = (ed.parse(f"Y[i] = {x}+A[i]", A=(4,)).roots() for x in (text, plain))
        assert one is other


def test_what_is_compiled_gives_real_numbers() -> None:
    data = {"Z": torch.from_numpy(DATA["Z"])}
    power = ed.compile("Y[i] = real(Z[i])^2+imag(Z[i])^2", **data, budget=0.3)
    found = power(**data)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, data["Z"].abs() ** 2)
