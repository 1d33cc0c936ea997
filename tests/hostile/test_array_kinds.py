"""Arrays and tensors whose memory is not what it seems, and those of kinds that few have met: the
value is NumPy's, or one error refuses them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.ta.errors import OperandError

A = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
X = np.random.default_rng(1).standard_normal(3).astype(np.float32)
C, Z = (A + 1j * A[::-1]).astype(np.complex64), (X - 2j * X[::-1]).astype(np.complex64)
Make = Callable[[], tuple[Any, Any]]


@cache
def product(dtype: str) -> ed.CompiledFunction:
    return ed.compile(
        "Y[i] = A[i,k]*x[k]", A=(4, 3), x=(3,), dtypes=dtype, target="cpu", seconds=0.001
    )


@cache
def copy(dtype: str) -> ed.CompiledFunction:
    return ed.compile("Y[i,k] = A[i,k]", A=(4, 3), dtypes=dtype, target="cpu", seconds=0.001)


def tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.copy())


def dense(value: Any) -> np.ndarray:
    """The value as a plain array, lazily negated and conjugated elements carried out."""
    return (
        value.resolve_conj().resolve_neg().numpy()
        if isinstance(value, torch.Tensor)
        else np.asarray(value)
    )


def negated() -> torch.Tensor:
    found = torch.complex(torch.zeros(4, 3), tensor(-A)).conj().imag
    assert found.is_neg()
    return found


def inference() -> torch.Tensor:
    with torch.inference_mode():
        return tensor(A).clone()


TAKEN: dict[str, Make] = {
    "lazily negated": lambda: (negated(), tensor(X)),
    "lazily conjugated": lambda: (tensor(C).conj(), tensor(Z)),
    "both lazily conjugated": lambda: (tensor(C).conj(), tensor(Z).conj()),
    "conjugated and transposed": lambda: (tensor(C.T.copy()).mH, tensor(Z)),
    "a conjugate by NumPy": lambda: (C.conj(), Z),
    "real parts": lambda: (tensor(C).real, tensor(X)),
    "imaginary parts": lambda: (tensor(C).imag, tensor(X)),
    "imaginary parts of a conjugate": lambda: (tensor(C).conj().imag, tensor(X)),
    "real parts by NumPy": lambda: (C.real, X),
    "without gradients to come": lambda: (inference(), tensor(X)),
    "without strides": lambda: (torch.ones(4, 3).as_strided((4, 3), (0, 0)), tensor(X)),
    "foreign byte order in both": lambda: (A.astype(">f4"), X.astype(">f4")),
    "foreign byte order of complex numbers": lambda: (C.astype(">c8"), Z.astype(">c8")),
    "NaN": lambda: (np.full_like(A, np.nan), X),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_memory_that_is_not_what_it_seems(kind: str) -> None:
    a, x = TAKEN[kind]()
    dtype = "complex64" if dense(a).dtype.kind == "c" else "float32"
    wanted = dense(a) @ dense(x)
    for found in (product(dtype)(a, x), ed.einsum("ij,j", a, x)):
        np.testing.assert_allclose(dense(found), wanted, rtol=1e-4, atol=1e-5)
    for found in (copy(dtype)(a), ed.einsum("ij->ij", a), ed.einsum("ij->ji", a).T):
        np.testing.assert_array_equal(dense(found), dense(a))
    np.testing.assert_allclose(dense(ed.einsum("ij->", a)), dense(a).sum(), rtol=1e-4, atol=1e-5)


def test_a_map_of_a_file_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(A.tobytes())
    mapped = np.memmap(tmp_path / "a", np.float32, "r", shape=(4, 3))
    for found in (product("float32")(mapped, X), ed.einsum("ij,j", mapped, X)):
        np.testing.assert_allclose(found, A @ X, rtol=1e-5, atol=1e-6)


def quantized() -> torch.Tensor:
    made: torch.Tensor = torch.quantize_per_tensor(tensor(A), 0.1, 0, torch.qint8)
    return made


REFUSED: dict[str, Make] = {
    "a mask": lambda: (np.ma.masked_array(A, A > 0), X),
    "a mask without an effect": lambda: (A, np.ma.masked_array(X, False)),
    "quantized": lambda: (quantized(), tensor(X)),
    "sparse": lambda: (tensor(A).to_sparse(), tensor(X)),
    "sparse rows": lambda: (tensor(A).to_sparse_csr(), tensor(X)),
    "nested": lambda: (torch.nested.nested_tensor([tensor(X)] * 4), tensor(X)),
    "of another library's layout": lambda: (tensor(A).to_mkldnn(), tensor(X)),
    "without data": lambda: (tensor(A).to("meta"), tensor(X)),
    "8-bit floats beside others": lambda: (tensor(A).to(torch.float8_e5m2), tensor(X)),
    "8-bit floats": lambda: (
        tensor(A).to(torch.float8_e4m3fn),
        tensor(X).to(torch.float8_e4m3fn),
    ),
    "records": lambda: (np.zeros((4, 3), [("a", "f4")]), X),
    "texts": lambda: (A.astype(str), X),
    "bytes": lambda: (A.astype("S"), X),
    "dates": lambda: (np.zeros((4, 3), "M8[s]"), X),
    "durations": lambda: (np.zeros((4, 3), "m8[s]"), X),
    "raw memory": lambda: (np.zeros((4, 3), "V4"), X),
    "objects that are no numbers": lambda: (np.full((4, 3), None), X),
    "rows of different lengths": lambda: ([[1.0], [1.0, 2.0]], X),
    "of another shape": lambda: (A.T, X),
    "NumPy beside torch": lambda: (A, tensor(X)),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", REFUSED)
def test_kinds_that_are_refused(kind: str) -> None:
    calls: tuple[Callable[[Any, Any], Any], ...] = (
        product("float32"),
        lambda a, x: ed.einsum("ij,j", a, x),
    )
    for call in calls:
        with pytest.raises(ed.EinderiveError) as caught:
            call(*REFUSED[kind]())
        assert str(caught.value).count("\n  next: ") == 1


@pytest.mark.parametrize(
    ("dtype", "numbers", "fits"),
    [
        ("int8", [127, -128], True),
        ("int8", [128, 0], False),
        ("uint8", [-1, 0], False),
        ("uint8", [255, 0], True),
        ("int64", [2**63, 0], False),
        ("int32", [2**31, 0], False),
        ("float16", [65504.0, np.inf], True),
        ("float16", [1e5, 0.0], False),
        ("float32", [1e300, 0.0], False),
        ("float32", [2**63, 0], True),
        ("float64", [10**400, 0], False),
        ("complex64", [1e300j, 0.0], False),
        ("bool", [True, False], True),
        ("bool", [1, 0], False),
        ("bfloat16", [1e300, 0.0], False),
    ],
)
def test_numbers_take_the_type_of_the_formula_where_it_holds_them(
    dtype: str, numbers: list[Any], fits: bool
) -> None:
    same = ed.compile("Y[i] = A[i]", A=(2,), dtypes=dtype, target="cpu", seconds=0.001)
    if fits:
        np.testing.assert_array_equal(same(numbers), np.array(numbers).astype(dtype))
    else:
        with pytest.raises(OperandError, match=f"numbers that are no {dtype}|no array of numbers"):
            same(numbers)


def test_numbers_for_a_type_that_numpy_lacks_give_a_tensor() -> None:
    same = ed.compile("Y[i] = A[i]", A=(2,), dtypes="bfloat16", target="cpu", seconds=0.001)
    found = same([1.0, 0.1])
    assert torch.equal(found, torch.tensor([1.0, 0.1]).bfloat16())


PATHS = [
    ["einsum_path"],
    ["einsum_path", (0,)],
    ["einsum_path", (0, 0)],
    ["einsum_path", (-1, 0)],
    ["einsum_path", (0, 1), (0, 1)],
    ["einsum_path", (0, 2)],
    [(0,)],
    ("greedy", "x"),
    ("conjure", 5),
    "conjure",
]


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("kind", [np.asarray, tensor], ids=["NumPy", "torch"])
def test_a_path_that_does_not_leave_one_operand_is_refused(path: Any, kind: Any) -> None:
    with pytest.raises(OperandError, match="optimize cannot be") as caught:
        ed.einsum("ij,j", kind(A), kind(X), optimize=path)
    assert "a path as from numpy.einsum_path" in str(caught.value)


@pytest.mark.parametrize(
    "path", [["einsum_path", (0, 1)], [(1, 0)], [(0, 1), (0,)], "greedy", ("greedy", 100), False]
)
def test_a_path_that_does_is_taken(path: Any) -> None:
    np.testing.assert_allclose(ed.einsum("ij,j", A, X, optimize=path), A @ X, rtol=1e-5, atol=1e-6)
