"""What a guard lets through: operands such as it was made for, whatever torch offers to ask it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import Parameter

import einderive as ed
from einderive.frontend.call import guard as guards
from einderive.frontend.call.guard import MISS, guard, kind
from einderive.frontend.call.source import function_of

A = torch.arange(16.0).reshape(4, 4)
REQUIRES = torch.ones(4, 4, requires_grad=True)
with torch.inference_mode():
    INFERENCE = torch.ones(4, 4)


class Subclass(torch.Tensor):
    pass


@pytest.fixture(params=["torch's class", "one after the other"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "one after the other":
        monkeypatch.setattr(guards, "TensorGuards", None)
    else:
        assert guards.TensorGuards is not None


def holds(made_for: Any, asked: Any, **options: bool) -> bool:
    names, lines = guard(made_for, signs=True, **options)
    return function_of([*lines, "    return True"], names.bound)(*asked) is not MISS


@pytest.mark.parametrize("made_for", [A, A[0], A[0, 0], A[:, :0], A.t(), Parameter(A.clone())])
def test_the_same_kind_is_let_through(made_for: torch.Tensor) -> None:
    with torch.no_grad():
        assert holds([made_for], [made_for])
        assert holds([made_for, torch.ones(4, 4)], [made_for, torch.zeros(4, 4)])


def test_one_tensor_for_several_operands() -> None:
    assert holds([A, A], [A, A])
    assert holds([A, REQUIRES.detach(), A], [A, torch.zeros(4, 4), A])
    if guards.TensorGuards is not None:
        assert not holds([A, A], [A, torch.zeros(4, 4)])


OTHERS: dict[str, Callable[[], Any]] = {
    "shape": lambda: A[:3],
    "strides": lambda: A.t(),
    "element type": lambda: A.double(),
    "device": lambda: A.to("meta"),
    "type": lambda: Parameter(A.clone()),
    "subclass": lambda: A.as_subclass(Subclass),
    "negated lazily": lambda: torch._neg_view(A),
    "sparse": A.to_sparse,
    "sparse by rows": A.to_sparse_csr,
    "nested": lambda: torch.nested.nested_tensor([A]),
    "with gradients": lambda: REQUIRES,
    "array": lambda: A.numpy(),
    "list": A.tolist,
    "number": lambda: 3,
}


@pytest.mark.filterwarnings("ignore:.*(nested|Sparse)")
@pytest.mark.parametrize("made", OTHERS.values(), ids=OTHERS)
def test_another_kind_is_missed(made: Callable[[], Any]) -> None:
    assert not holds([A], [made()])
    assert not holds([A, A], [A, made()])


def test_another_number_of_operands_is_missed() -> None:
    assert not holds([A], [])
    assert not holds([A], [A, A])


def test_conjugated_lazily() -> None:
    numbers = A.to(torch.complex64)
    assert holds([numbers], [numbers])
    assert not holds([numbers], [numbers.conj()])


def test_gradients_are_asked_for_at_each_call() -> None:
    with torch.no_grad():
        assert holds([REQUIRES], [REQUIRES])
    assert not holds([REQUIRES], [REQUIRES])
    assert kind(REQUIRES) != kind(A) != kind(INFERENCE)


def test_tensors_of_inference_mode() -> None:
    assert holds([INFERENCE], [INFERENCE])
    with torch.inference_mode():
        assert holds([A], [A])


@pytest.fixture(params=["tensor", "array"])
def operand(request: pytest.FixtureRequest) -> Any:
    return A if request.param == "tensor" else A.numpy()


@pytest.mark.parametrize(
    "context", [torch.autocast("cpu", dtype=torch.bfloat16), nullcontext()], ids=["autocast", "-"]
)
def test_autocast_is_missed(operand: Any, context: AbstractContextManager[Any]) -> None:
    with context:
        assert holds([operand], [operand]) is isinstance(context, nullcontext)


def test_transformed_operands_are_missed(operand: Any) -> None:
    found = []

    def within(x: torch.Tensor) -> torch.Tensor:
        found.append(holds([operand], [x]))
        return x

    torch.vmap(within)(torch.ones(2, *operand.shape))
    torch.func.grad(lambda x: within(x).sum())(torch.ones(operand.shape))
    assert found == [False, False]


def test_other_operands_may_be_used_within_a_transformation() -> None:
    f = ed.compile("Y[i] = A[i,k]*B[k]", target="cpu", A=(3, 4), B=(4,))
    a, b, c = torch.randn(3, 4), torch.randn(4), torch.randn(5, 3)
    expected = f(a, b)
    found = torch.vmap(lambda x: x * f(a, b))(c)
    torch.testing.assert_close(found, c * expected)
    slopes = torch.func.grad(lambda x: (x * f(a, b)).sum())(torch.ones(3))
    torch.testing.assert_close(slopes, expected)


def test_the_default_type_may_take_part() -> None:
    names, lines = guard([A], default_type=True)
    asked = function_of([*lines, "    return True"], names.bound)
    assert asked(A) is True
    torch.set_default_dtype(torch.float64)
    try:
        assert asked(A) is MISS
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    "other",
    [A.numpy().T, A.numpy()[:2], A.numpy().astype("float64"), A.numpy().view(np.matrix), A],
    ids=["strides", "shape", "element type", "subclass", "tensor"],
)
def test_another_kind_of_array_is_missed(other: Any) -> None:
    assert holds([A.numpy()], [A.numpy()])
    assert not holds([A.numpy()], [other])


def test_an_array_that_may_not_be_written_to() -> None:
    fixed = A.numpy().copy()
    fixed.flags.writeable = False
    assert not holds([A.numpy()], [fixed])
