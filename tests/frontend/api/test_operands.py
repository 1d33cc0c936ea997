"""What a compiled function takes, what it gives back, and how it refuses."""

from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.ta.errors import OperandError

A = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
X = np.random.default_rng(1).standard_normal(5).astype(np.float32)


@pytest.fixture(scope="module")
def product() -> ed.CompiledFunction:
    return ed.compile("Y[i] = A[i,k]*x[k]", A=(4, 5), x=(5,), seconds=0.02, target="cpu")


def packed() -> Any:
    """The matrix with elements at odd addresses."""
    rows = np.zeros((4, 5), dtype=[("gap", "i1"), ("value", "f4")])
    rows["value"] = A
    return rows["value"]


def write_protected() -> Any:
    rows = A.copy()
    rows.flags.writeable = False
    return rows


@pytest.mark.parametrize(
    "matrix",
    [
        A,
        np.asfortranarray(A),
        A[::-1, ::-1][::-1, ::-1],
        np.repeat(A, 2, axis=1)[:, ::2],
        write_protected(),
        A.astype(">f4"),
        packed(),
        A.tolist(),
    ],
    ids=["plain", "fortran", "flipped", "strided", "protected", "swapped", "packed", "list"],
)
def test_any_layout_of_numpy_arrays(product: ed.CompiledFunction, matrix: Any) -> None:
    result = product(matrix, X)
    assert isinstance(result, np.ndarray)
    np.testing.assert_allclose(result, A @ X, rtol=1e-5, atol=1e-5)


def test_negative_strides_and_repeats(product: ed.CompiledFunction) -> None:
    np.testing.assert_allclose(product(A[::-1], X), A[::-1] @ X, rtol=1e-5, atol=1e-5)
    repeated = np.broadcast_to(X, (4, 5))
    np.testing.assert_allclose(product(A=repeated, x=X), repeated @ X, rtol=1e-5, atol=1e-5)


def test_torch_gives_torch_also_beside_lists(product: ed.CompiledFunction) -> None:
    result = product(torch.from_numpy(A), X.tolist())
    assert isinstance(result, torch.Tensor)
    np.testing.assert_allclose(result.numpy(), A @ X, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kinds", [("f8", "f8"), ("f4", "f8"), ("f2", "f4"), ("f2", "f2")])
def test_other_floating_types_are_computed_in(kinds: tuple[str, str]) -> None:
    """In the type that the operands promote to, with its digits; never converted down."""
    text = "Y[i,j] = A[i,k]^2 - 2*A[i,k]*B[j,k] + B[j,k]^2"
    compiled = ed.compile(text, A=(6, 5), B=(7, 5), target="cpu", seconds=0.01)
    generator = np.random.default_rng(3)
    a, b = (generator.standard_normal((n, 5)).astype(k) for n, k in zip((6, 7), kinds, strict=True))
    promoted = np.promote_types(*kinds)
    wanted = ((a.astype("f8")[:, None] - b.astype("f8")[None]) ** 2).sum(-1)
    for _ in range(2):
        found = compiled(a, b)
        assert found.dtype == promoted
        np.testing.assert_allclose(found, wanted, rtol=0, atol=200 * np.finfo(promoted).eps)
        of_torch = compiled(torch.from_numpy(a), torch.from_numpy(b))
        assert of_torch.numpy().dtype == promoted


class Exchanged:
    """What another library's array offers."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


def test_operands_of_other_libraries(product: ed.CompiledFunction) -> None:
    result = product(Exchanged(torch.from_numpy(A.copy())), Exchanged(torch.from_numpy(X.copy())))
    assert isinstance(result, np.ndarray)
    np.testing.assert_allclose(result, A @ X, rtol=1e-5, atol=1e-5)


def test_results_go_into_out(product: ed.CompiledFunction) -> None:
    for _ in range(2):
        out = np.empty(4, dtype=np.float32)
        assert product(A, X, out=out) is out
        np.testing.assert_allclose(out, A @ X, rtol=1e-5, atol=1e-5)
        tensor = torch.empty(4)
        assert product(A=torch.from_numpy(A), x=torch.from_numpy(X), out=tensor) is tensor
        np.testing.assert_allclose(tensor.numpy(), A @ X, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "out", [np.empty(5, "f4"), np.empty(4, "f8"), torch.empty(4), [0.0] * 4, None]
)
def test_out_has_to_fit(product: ed.CompiledFunction, out: Any) -> None:
    with pytest.raises(OperandError, match="out"):
        product(A, X, out=out)


REFUSED: list[tuple[Any, str, str]] = [
    (
        None,
        "A is not an array of numbers but a NoneType",
        "pass an array of float32 of shape 4 x 5",
    ),
    ("abc", "A is not an array of numbers but a str", "pass an array of float32"),
    ([[1.0, 2.0], [3.0]], "A is not an array of numbers but a list", "pass an array of float32"),
    ((A * 1j).tolist(), "A holds numbers that are no float32", "pass an array of float32"),
    (10**300, "A holds numbers that are no float32", "pass an array of float32"),
    ([[10**300] * 5] * 4, "A holds numbers that are no float32", "pass an array of float32"),
    ([[10**300, "a"]], "A is not an array of numbers but a list", "pass an array of float32"),
    (np.array([10**300]), "A is not an array of numbers but an array of object", "pass an array"),
    (object(), "A is not an array of numbers but an object", "pass an array of float32"),
    (A.T, "A has shape 5 x 4", "compile for A=(5, 4)"),
    (A.astype(np.int64), "elements of type int64", "dtypes={'A': 'int64'}"),
    (A.astype(np.longdouble), "elements of type", "convert it to float32"),
    (torch.from_numpy(A), "x is a NumPy array, A a torch tensor", "torch.from_numpy(x)"),
]


@pytest.mark.parametrize(("matrix", "message", "step"), REFUSED, ids=[case[1] for case in REFUSED])
def test_refused(product: ed.CompiledFunction, matrix: Any, message: str, step: str) -> None:
    with pytest.raises(OperandError) as caught:
        product(matrix, X)
    text = str(caught.value)
    assert message in text
    assert step in text.rpartition("\n  next: ")[2]
    assert "  Y[i] = A[i,k]*x[k]\n" in text
    assert "^" in text


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (torch.from_numpy(A).to_sparse(), "A is a sparse tensor"),
        (torch.empty(4, 5, device="meta"), "A lies on meta"),
    ],
    ids=["sparse", "meta"],
)
def test_refused_tensors(product: ed.CompiledFunction, matrix: torch.Tensor, message: str) -> None:
    with pytest.raises(OperandError, match=message):
        product(matrix, torch.from_numpy(X))


def test_no_gradients_are_wanted_within_no_grad(product: ed.CompiledFunction) -> None:
    with torch.no_grad():
        result = product(torch.from_numpy(A.copy()).requires_grad_(), torch.from_numpy(X))
    assert not result.requires_grad


def test_a_scalar_may_be_a_number() -> None:
    scaled = ed.compile("Y[i] = a*x[i]", a=(), x=(5,), seconds=0.02, target="cpu")
    np.testing.assert_allclose(scaled(a=2.5, x=X), 2.5 * X, rtol=1e-6)
    with pytest.raises(OperandError, match="a holds numbers that are no float32"):
        scaled(a=1j, x=X)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bfloat16"])
def test_an_integer_of_any_size_is_a_number(dtype: str) -> None:
    scaled = ed.compile("Y[i] = s*x[i]", s=(), x=(5,), dtypes=dtype, target="cpu", seconds=0.001)
    for large in (10**300, -(10**300)):
        with pytest.raises(OperandError, match=f"s holds numbers that are no {dtype}"):
            scaled(s=large, x=[1] * 5)
