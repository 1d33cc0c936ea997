"""`torch.func` on compiled functions: values are compared with torch's on the plain line."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from einderive.frontend.call.caller import Caller
from tests.frontend.autograd.light import light
from tests.frontend.autograd.test_node import agrees, operands

TEXT = "Y[i] = sin(sum[k](A[i,k]*x[k])); z = sum[i,k](A[i,k]^2*x[k])"


def plain(a: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.sin(a @ x), (a**2 @ x).sum()


@pytest.fixture(scope="module")
def function() -> Caller:
    return light(TEXT, A=(2, 3), x=(3,))


def loss(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def of(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        y, z = function(a, x)
        return torch.as_tensor((y**2).sum() + z)

    return of


TRANSFORMATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "grad": lambda f, a, x: grad(loss(f), (0, 1))(a, x),
    "vjp": lambda f, a, x: vjp(f, a, x)[1]((x[:2], x[0])),
    "jvp": lambda f, a, x: jvp(f, (a, x), (a.cos(), x + 1)),
    "jvp by one": lambda f, a, x: jvp(lambda x: f(a, x), (x,), (x + 1,)),
    "jacrev": lambda f, a, x: jacrev(f, 1)(a, x),
    "jacfwd": lambda f, a, x: jacfwd(f, 1)(a, x),
    "hessian": lambda f, a, x: hessian(loss(f), 1)(a, x),
    "jvp of grad": lambda f, a, x: jvp(grad(loss(f)), (a, x), (a, x)),
    "grad of grad": lambda f, a, x: grad(lambda x: grad(loss(f), 1)(a, x).sum())(x),
    "vmap of grad": lambda f, a, x: vmap(grad(loss(f), 1), (None, 0))(a, x.expand(2, 3)),
    "grad of vmap": lambda f, a, x: grad(lambda x: vmap(f, (None, 0))(a, x)[0].sum())(
        torch.stack([x, 2 * x])
    ),
    "no tensor of the transformation": lambda f, a, x: grad(lambda t: t * f(a, x)[1])(x[0]),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations(function: Caller, name: str) -> None:
    a, x = operands((2, 3), (3,), requires=False)
    found = TRANSFORMATIONS[name](function, a, x)
    torch.testing.assert_close(found, TRANSFORMATIONS[name](plain, a, x))


@pytest.mark.parametrize("dims", [d for d in product((None, 0, 1, -1), (None, 0, 1)) if any(
    place is not None for place in d)])  # fmt: skip
def test_any_dimension_is_mapped(function: Caller, dims: tuple[int | None, int | None]) -> None:
    shapes = [
        shape if place is None else (*shape[: (end := place % (len(shape) + 1))], 4, *shape[end:])
        for shape, place in zip(((2, 3), (3,)), dims, strict=True)
    ]
    given = operands(*shapes, requires=False)
    torch.testing.assert_close(vmap(function, dims)(*given), vmap(plain, dims)(*given))


def test_maps_within_maps(function: Caller) -> None:
    given = operands((2, 5, 3), (3, 4), requires=False)

    def twice(f: Callable[..., Any]) -> Any:
        return vmap(vmap(f, (None, 1)), (1, None))(*given)

    torch.testing.assert_close(twice(function), twice(plain))


def test_a_map_is_one_call_and_is_differentiated(function: Caller) -> None:
    a, x = operands((2, 3), (6, 3))
    y, _ = vmap(function, (None, 0))(a, x)
    assert type(y.grad_fn).__name__ != "StackBackward0"
    agrees(vmap(function, (None, 0)), vmap(plain, (None, 0)), [a, x], [a, x])


def test_what_depends_on_no_batch_is_computed_once() -> None:
    f = light("Y[i] = A[i]^2; Z[i] = A[i]*B[i]", A=(3,), B=(3,))
    a, b = operands((3,), (5, 3), requires=False)
    shapes: list[tuple[int, ...]] = []

    def around(a: torch.Tensor, b: torch.Tensor) -> Any:
        y, z = f(a, b)
        shapes.append(torch._C._functorch.get_unwrapped(z).shape)
        assert not torch._C._functorch.is_batchedtensor(y)
        return z

    torch.testing.assert_close(vmap(around, (None, 0))(a, b), a * b)
    assert shapes == [(5, 3)]


def test_tangents_that_are_zero() -> None:
    """A program of tangents that reads no operand is none: its results would be arrays."""
    f = light("Y[i] = floor(x[i]); Z[i] = 2*x[i]; n = sum[i](x[i] > 0)", x=(3,))
    (x,) = operands((3,), requires=False)
    (y, z, n), (dy, dz, dn) = jvp(f, (x,), (x,))
    torch.testing.assert_close((dy, dz, dn.double()), (0 * x, 2 * x, 0 * x[0]))
    torch.testing.assert_close(jvp(light("Y[i] = floor(x[i])", x=(3,)), (x,), (x,)), (y, 0 * x))
    assert (z == 2 * x).all()
    assert n == (x > 0).sum()


def test_batches_of_gradients_by_the_older_mechanism(function: Caller) -> None:
    a, x = operands((2, 3), (3,))
    seeds = operands((5, 2), (5,), requires=False, seed=1)
    found, expected = (
        torch.autograd.grad(f(a, x), (a, x), seeds, is_grads_batched=True)
        for f in (function, plain)
    )
    torch.testing.assert_close(found, expected)
    for strategy in ("reverse-mode", "forward-mode"):
        found, expected = (
            torch.autograd.functional.jacobian(
                lambda a, x, f=f: f(a, x)[0], (a, x), vectorize=True, strategy=strategy
            )
            for f in (function, plain)
        )
        torch.testing.assert_close(found, expected)


def test_a_second_derivative_that_reads_no_operand() -> None:
    f = light("y = sum[i,j](abs(x[i] - x[j]))", x=(3,))
    x = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    found = jvp(grad(f), (x,), (x,))
    torch.testing.assert_close(found, (torch.tensor([-4.0, 0.0, 4.0]).double(), 0 * x))


@pytest.mark.parametrize("text", [TEXT, "Y[j,i] = 2*A[i,j] + x[j]"])
def test_batches_of_tangents_by_the_older_mechanism(text: str) -> None:
    """torch strides tangents like outputs, which its older maps do for a first dimension alone."""
    given = operands((2, 3), (3,))
    f = light(text, A=(2, 3), x=(3,))
    torch.autograd.gradcheck(f, given, check_forward_ad=True, check_batched_forward_grad=True)
