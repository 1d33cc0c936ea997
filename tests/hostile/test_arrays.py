"""Arrays of every layout, type and kind: computed right, or refused by one clear error; and never
written to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.ta.errors import OperandError
from tests.amount import sampled

A = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
X = np.random.default_rng(1).standard_normal(5).astype(np.float32)
Make = Callable[[np.ndarray], Any]


@pytest.fixture(scope="module")
def product() -> ed.CompiledFunction:
    return ed.compile("Y[i] = A[i,k]*x[k]", A=(4, 5), x=(5,), target="cpu", seconds=0.01)


def padded(values: np.ndarray) -> np.ndarray:
    """The values inside a larger array."""
    whole = np.full([size + 2 for size in values.shape], np.nan, values.dtype)
    inside = whole[tuple(slice(1, -1) for _ in values.shape)]
    inside[...] = values
    return inside


def protected(values: np.ndarray) -> np.ndarray:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


class Tagged(np.ndarray):
    """A subclass that changes nothing."""


class Answers:
    """No array, but something that NumPy can make one of."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


NUMPY: dict[str, Make] = {
    "plain": lambda a: a,
    "Fortran order": np.asfortranarray,
    "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "reversed everywhere": lambda a: np.flip(np.ascontiguousarray(np.flip(a))),
    "every second element": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "inside a larger array": padded,
    "read-only": protected,
    "foreign byte order": lambda a: a.astype(">f4"),
    "unaligned": lambda a: (
        np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view("f4").reshape(a.shape)
    ),
    "a subclass": lambda a: a.view(Tagged),
    "a list": lambda a: a.tolist(),
    "a tuple": lambda a: tuple(a.tolist()),
    "an object with __array__": Answers,
}
TORCH: dict[str, Make] = {
    "plain": torch.from_numpy,
    "transposed twice": lambda a: torch.from_numpy(a.T.copy()).T,
    "every second element": lambda a: torch.from_numpy(np.repeat(a, 2, axis=-1))[..., ::2],
    "with an offset": lambda a: torch.from_numpy(np.concatenate([a[:1], a]))[1:],
    "a parameter without gradients": lambda a: torch.nn.Parameter(torch.from_numpy(a), False),
}


@sampled(6)
@pytest.mark.parametrize("vector", NUMPY)
@pytest.mark.parametrize("matrix", NUMPY)
def test_layouts_of_numpy(product: ed.CompiledFunction, matrix: str, vector: str) -> None:
    a, x = NUMPY[matrix](A.copy()), NUMPY[vector](X.copy())
    before = np.array(a), np.array(x)
    np.testing.assert_allclose(product(a, x), A @ X, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.array(a), before[0])
    np.testing.assert_array_equal(np.array(x), before[1])


@pytest.mark.parametrize("matrix", TORCH)
def test_layouts_of_torch(product: ed.CompiledFunction, matrix: str) -> None:
    a = TORCH[matrix](A.copy())
    before = a.clone()
    found = product(a, torch.from_numpy(X))
    np.testing.assert_allclose(found.numpy(), A @ X, rtol=1e-5, atol=1e-5)
    assert torch.equal(a, before)


def test_elements_that_share_memory(product: ed.CompiledFunction) -> None:
    repeated = np.broadcast_to(X, (4, 5))
    sliding = np.lib.stride_tricks.as_strided(A, (4, 5), (4, 4))
    for matrix in (repeated, sliding, torch.from_numpy(X.copy()).expand(4, 5)):
        vector = torch.from_numpy(X) if isinstance(matrix, torch.Tensor) else X
        wanted = np.asarray(matrix) @ X
        np.testing.assert_allclose(
            np.asarray(product(matrix, vector)), wanted, rtol=1e-5, atol=1e-5
        )


def test_one_array_as_both_operands() -> None:
    square = ed.compile("Y[i] = a[i]*b[i]", a=(5,), b=(5,), target="cpu", seconds=0.01)
    np.testing.assert_allclose(square(X, X), X * X, rtol=1e-6)
    np.testing.assert_allclose(square(X, X[::-1]), X * X[::-1], rtol=1e-6)


def test_a_memory_map(product: ed.CompiledFunction, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(A.tobytes())
    for mode in ("r", "c"):
        mapped = np.memmap(path, np.float32, mode, shape=A.shape)  # type: ignore[call-overload]
        np.testing.assert_allclose(product(mapped, X), A @ X, rtol=1e-5, atol=1e-5)
    assert path.read_bytes() == A.tobytes()


def test_a_matrix_is_an_array_of_two_dimensions(product: ed.CompiledFunction) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        found = product(np.matrix(A), X)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, A @ X, rtol=1e-5, atol=1e-5)


PROGRAMS = (
    "Y[i] = A[i,k]*x[k]",
    "Y[i,j] = A[i,j]",
    "Y[j,i] = A[i,j]",
    "Y[i,j] = (A[i,k] - A[j,k])^2",
    "Y[i] = A[i,0]; Z[i] = 2*Y[i]",
    "Y[i,k] = relu(A[i,k])",
)


@pytest.mark.parametrize("text", PROGRAMS)
def test_inputs_stay_and_results_share_nothing_with_them(text: str) -> None:
    shapes = {"A": (4, 5), "x": (5,)} if "x[" in text else {"A": (4, 5)}
    compiled = ed.compile(text, **shapes, target="cpu", seconds=0.01)  # type: ignore[arg-type]
    for kind in (np.array, torch.tensor):
        given = {"A": kind(A), "x": kind(X)}
        inputs = {name: given[name] for name in shapes}
        found = compiled(**inputs)
        for result in found if isinstance(found, tuple) else (found,):
            result[...] = 7.0
        assert all(np.array_equal(np.asarray(v), (A, X)[n == "x"]) for n, v in inputs.items())
        again = compiled(**inputs)
        first = again[0] if isinstance(again, tuple) else again
        assert not (np.asarray(first) == 7.0).all()


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int32", "int8", "uint8"]
)
def test_mixed_element_types_are_part_of_the_formula(dtype: str) -> None:
    """The operands say each one's type, NumPy's promotion what is computed in; integers in the
    place of floats, or the other way round, are refused."""
    compiled = ed.compile(
        "Y[i] = A[i]*x[i]",
        A=(5,),
        x=(5,),
        dtypes={"A": dtype, "x": "float32"},
        target="cpu",
        seconds=0.01,
    )
    values = np.arange(5).astype(dtype)
    found = compiled(values, X)
    np.testing.assert_allclose(found, values * X, rtol=1e-5)
    other = np.float32 if np.dtype(dtype).kind in "iu" else np.int16
    with pytest.raises(OperandError, match=f"A has elements of type {other.__name__}"):
        compiled(values.astype(other), X)


@pytest.mark.parametrize("matrix", [name for name in NUMPY if name != "an object with __array__"])
def test_einsum_takes_every_layout(matrix: str) -> None:
    a = NUMPY[matrix](A.copy())
    before = np.array(a)
    np.testing.assert_allclose(ed.einsum("ij,j", a, X), A @ X, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.array(a), before)


@pytest.mark.parametrize(
    ("operands", "words"),
    [
        ((np.zeros((4, 5), [("a", "f4")]), X), "operand 0 holds elements of type"),
        ((A.astype(str), X), "operand 0 holds elements of type"),
        ((A, np.array(["2020-01-01"] * 5, "M8[D]")), "operand 1 holds elements of type"),
        (([[1.0, 2.0], [3.0]], X), "operand 0 is not an array"),
        ((torch.from_numpy(A).to_sparse(), torch.from_numpy(X)), "operand 0 is a sparse tensor"),
        ((torch.empty(4, 5, device="meta"), torch.from_numpy(X)), "different devices: meta, cpu"),
        ((torch.from_numpy(A), X), "operand 1 is a NumPy array"),
    ],
    ids=["records", "texts", "dates", "ragged", "sparse", "devices", "kinds"],
)
def test_einsum_refuses(operands: tuple[Any, Any], words: str) -> None:
    with pytest.raises(OperandError, match=words) as caught:
        ed.einsum("ij,j", *operands)
    assert "  ij,j\n" in str(caught.value)
    assert "\n  next: " in str(caught.value)


def test_einsum_refuses_results_beyond_memory() -> None:
    long = np.broadcast_to(np.float32(1), (2**40,))
    with pytest.raises(OperandError, match="the result does not fit into memory") as caught:
        ed.einsum("i,j", long, long)
    assert "sizes: operand 0 is a vector of 1099511627776" in str(caught.value)
