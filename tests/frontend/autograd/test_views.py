"""Gradients that are views of the cotangent, as those of torch's autograd are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import einderive as ed
from einderive.frontend.autograd.node import Recorder
from einderive.frontend.autograd.views import view_of
from einderive.frontend.call.caller import Caller
from tests.frontend.autograd.light import light
from tests.frontend.autograd.test_node import QUICK, operands

CONCAT = "Y[i,j] = where(i < 3, A[i,j], B[i-3,j]) where i in 0:5"
PARTS: dict[str, Any] = {"A": (3, 2), "B": (2, 2)}
MIXED = "Y[i,j] = A[i,j] + 2*B[j,i] + C[i]*D[j]"
MIXED_SHAPES: dict[str, Any] = {"A": (3, 4), "B": (4, 3), "C": (3,), "D": (4,)}


def shares(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def slopes(function: Callable[..., Any], given: list[torch.Tensor]) -> tuple[Any, ...]:
    """The gradients of a call whose layouts are known, and the cotangent."""
    for _ in range(3):
        y = function(*given)
        seed = torch.randn_like(y)
        found = torch.autograd.grad(y, given, seed)
    return found, seed


@pytest.mark.parametrize(
    ("text", "shapes", "line"),
    [
        (CONCAT, PARTS, lambda a, b: torch.cat((a, b))),
        ("Y[i,j] = A[i,j] + B[j,i]", {"A": (3, 4), "B": (4, 3)}, lambda a, b: a + b.T),
        ("Y[i] = sum[k](A[i,k])", {"A": (3, 4)}, lambda a: a.sum(1)),
        ("Y[k] = sum[i](A[i,k])", {"A": (3, 4)}, lambda a: a.sum(0)),
        ("Y = sum[i,j](A[i,j])", {"A": (3, 4)}, torch.sum),
        ("Y[a,b] = sum[i,j](A[i,a,j,b])", {"A": (2, 3, 4, 5)}, lambda a: a.sum((0, 2))),
        ("Y[h,w] = A[h,w//3,w%3] where w in 0:12", {"A": (2, 4, 3)}, lambda a: a.flatten(1)),
        (
            "Y[i] = where(i%2 == 0, A[i//2], B[(i-1)//2]) where i in 0:8",
            {"A": (4,), "B": (4,)},
            lambda a, b: torch.stack((a, b), 1).flatten(),
        ),
        (
            "Y[i,b] = where(i == 0, A[b], B[b]) where i in 0:2",
            {"A": (4,), "B": (4,)},
            lambda a, b: torch.stack((a, b)),
        ),
        ("Y[i,j] = A[j,0,i]", {"A": (3, 1, 4)}, lambda a: a[:, 0].T),
    ],
)
def test_gradients_that_are_views(
    text: str, shapes: dict[str, Any], line: Callable[..., Any]
) -> None:
    f = light(text, **shapes)
    given = operands(*shapes.values())
    found, seed = slopes(f, given)
    wanted = torch.autograd.grad(line(*given), given, seed)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)
        assert shares(one, seed)
    assert gradcheck(f, given, check_batched_grad=True)
    assert gradgradcheck(f, given)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i] = A[i] where i in 0:3", {"A": (5,)}),  # zeros where nothing is read
        ("Y[i] = A[3-i] where i in 0:4", {"A": (4,)}),
        ("Y[i,j] = A[i,j]/3", {"A": (3, 4)}),
    ],
)
def test_other_gradients_are_computed(text: str, shapes: dict[str, Any]) -> None:
    (found,), seed = slopes(light(text, **shapes), operands(*shapes.values()))
    assert not shares(found, seed)


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("Y[i] = A[i,i]", (3, 3)),  # a diagonal
        ("Y[i,j] = A[i+j] where i in 0:3, j in 0:3", (5,)),  # windows
        ("Y[i,j] = A[3*i+j] where i in 0:2, j in 0:2", (6,)),  # parts of rows
        ("Y[i,j] = A[i+3*j] where i in 0:4, j in 0:2", (7,)),  # rows that overlap
        ("Y[i] = A[i+1] where i in 0:4", (4,)),  # beyond the end
        ("Y[i] = A[i//2] where i in 0:8", (4,)),
    ],
)
def test_what_no_view_of_torch_is(text: str, ranges: tuple[int, ...]) -> None:
    (root,) = ed.parse(text, A=ranges).roots()
    assert view_of(root) is None


@pytest.mark.parametrize(
    ("text", "shape", "wanted"),
    [
        ("Y[i] = A[2*i+1] where i in 0:3", (7,), lambda a: a[1:6:2]),
        ("Y[i,j,k] = A[k,12+6*i+2*j] where i in 0:2, j in 0:3", (2, 30), None),
        ("Y[a,i,b,j] = A[j,i] where a in 0:2, b in 0:1", (3, 4), lambda a: a.T[None, :, None]),
        ("Y[i] = A[2,i,1]", (3, 4, 5), lambda a: a[2, :, 1]),
        ("Y[i,j] = A[i+1,j] where i in 1:3, j in 0:1", (4, 5), lambda a: a[2:4, :1]),
    ],
)
def test_views_of_torch(text: str, shape: tuple[int, ...], wanted: Any) -> None:
    (root,) = ed.parse(text, A=shape).roots()
    found = view_of(root)
    assert found is not None
    tensor = torch.randn(shape)
    made = found[1](tensor)
    assert shares(made, tensor)
    if wanted is None:
        wanted = lambda a: a[:, 12:24:2].unflatten(1, (2, 3)).permute(1, 2, 0)  # noqa: E731
    torch.testing.assert_close(made, wanted(tensor).expand(root.shape))


def test_views_beside_computed_gradients() -> None:
    f = light(MIXED, **MIXED_SHAPES)
    given = operands(*MIXED_SHAPES.values())
    found, seed = slopes(f, given)
    line = lambda a, b, c, d: a + 2 * b.T + c[:, None] * d  # noqa: E731
    wanted = torch.autograd.grad(line(*given), given, seed)
    torch.testing.assert_close(found, wanted)
    assert [shares(one, seed) for one in found] == [True, False, False, False]
    assert gradcheck(f, given)
    assert gradgradcheck(f, given)
    for _ in range(3):  # by some of the operands alone
        y = f(given[0], given[1].detach(), given[2].detach(), given[3])
        some = torch.autograd.grad(y, (given[0], given[3]), seed)
        torch.testing.assert_close(some, (wanted[0], wanted[3]))


def test_nothing_is_compiled_for_views_alone() -> None:
    def compiled(program: ed.Program) -> Caller:
        raise AssertionError(program)

    f = light(CONCAT, **PARTS)
    assert isinstance(f._record, Recorder)
    f._record.related._compile = compiled
    slopes(f, operands(*PARTS.values()))
    f._record.related.compile_gradient(None)


def test_no_view_of_another_type() -> None:
    """dA = dY in either case, where dY has the type of Y."""
    views = {}
    for dtype in ("float32", "float64"):
        f = light("Y[i] = A[i] + 2*B[i]", dtypes={"A": dtype, "B": "float64"}, A=(3,), B=(3,))
        given = [torch.randn(3, dtype=getattr(torch, dtype), requires_grad=True), *operands((3,))]
        found, _ = slopes(f, given)
        assert [one.dtype for one in found] == [one.dtype for one in given]
        assert isinstance(f._record, Recorder)
        part = f._record.related.gradient((0, 1), (0,))
        assert part is not None
        views[dtype] = [*part.views]
    assert views == {"float32": [], "float64": [0]}


def test_changes_in_place_are_those_of_torch() -> None:
    """Of two leaves with the same gradient, each has its own; a part of the cotangent is the leaf's
    gradient where it is for torch; and memory that several elements share is not written to."""
    for formula, line, shapes in (
        ("Y[i,j] = A[i,j] + B[i,j]", torch.add, ((3, 4), (3, 4))),
        (CONCAT, lambda a, b: torch.cat((a, b)), ((3, 2), (2, 2))),
        ("Y[i,j] = where(j < 3, A[i,j], B[i,j-3]) where j in 0:5",
         lambda a, b: torch.cat((a, b), 1), ((2, 3), (2, 2))),
    ):  # fmt: skip
        f = light(formula, A=shapes[0], B=shapes[1])
        for _ in range(3):
            own, known = operands(*shapes), operands(*shapes)
            y, z = f(*own), line(*known)
            seed = torch.randn_like(z)
            y.backward(seed)
            z.backward(seed)
            for one, other in zip(own, known, strict=True):
                torch.testing.assert_close(one.grad, other.grad)
                assert one.grad is not None
                assert other.grad is not None
                assert shares(one.grad, seed) == shares(other.grad, seed)
                assert one.grad.is_contiguous()
            before = own[1].grad.clone()  # type: ignore[union-attr]
            own[0].grad.zero_()  # type: ignore[union-attr]
            torch.testing.assert_close(own[1].grad, before)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i,j] = A[i,0,j] + B[0,i,j]", {"A": (4, 1, 4), "B": (1, 4, 4)}),
        ("Y[i,j] = A[i,j] + B[j,i]", {"A": (4, 4), "B": (4, 4)}),
        ("Y[i,j] = A[0,i,j] + B[i,j]", {"A": (1, 4, 4), "B": (4, 4)}),
        ("Y[i,j] = A[i,j] + B[0,i,j]", {"A": (4, 4), "B": (1, 4, 4)}),
    ],
)
def test_leaves_share_no_gradient(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    f = light(text, **shapes)
    for _ in range(3):
        a, b = operands(*shapes.values())
        y = f(a, b)
        (y * torch.randn(4, 4)).sum().backward()
        assert a.grad is not None
        assert b.grad is not None
        before = b.grad.clone()
        a.grad.zero_()
        torch.testing.assert_close(b.grad, before)


def test_an_expanded_gradient_beside_a_view_is_not_copied() -> None:
    f = light("Y[i] = sum[j](A[i,j]) + B[0,i]", A=(3, 4), B=(1, 3))
    found, seed = slopes(f, operands((3, 4), (1, 3)))
    assert [shares(one, seed) for one in found] == [True, True]


def test_gradients_are_added_up() -> None:
    f, (a, b) = light(CONCAT, **PARTS), operands(*PARTS.values())
    seed = torch.randn(5, 2, dtype=torch.float64)
    kept = seed.clone()
    for _ in range(3):
        f(a, b).backward(seed.clone())
    torch.testing.assert_close(a.grad, 3 * kept[:3])
    y = f(a, b)
    (slope,) = torch.autograd.grad(torch.cat((y[:2] * 2, y)).sum(), a)
    torch.testing.assert_close(slope, torch.tensor([3.0, 3, 1]).double()[:, None].expand(3, 2))


def test_expanded_gradients_go_on_through_other_formulas() -> None:
    square, total = light("Y[i] = X[i]^2", X=(6,)), light("Y = sum[i](X[i])", X=(6,))
    (x,) = operands((6,))
    for _ in range(3):
        x.grad = None
        total(square(x)).backward()
        torch.testing.assert_close(x.grad, 2 * x.detach())
        total(x).backward()
        torch.testing.assert_close(x.grad, 2 * x.detach() + 1)
        x.grad += 1


def test_transformations() -> None:
    f, line = light(CONCAT, **PARTS), lambda a, b: torch.cat((a, b))
    a, b = operands(*PARTS.values(), requires=False)

    def loss(call: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda a, b: (call(a, b).sin() ** 2).sum()

    for transform in (
        lambda call: torch.func.grad(loss(call), (0, 1)),
        lambda call: torch.func.jacrev(call, (0, 1)),
        lambda call: torch.func.hessian(loss(call)),
    ):
        torch.testing.assert_close(transform(f)(a, b), transform(line)(a, b))
    several = torch.stack((a, 2 * a))
    found, wanted = (
        torch.func.vmap(torch.func.grad(loss(call), (0, 1)), (0, None))(several, b)
        for call in (f, line)
    )
    torch.testing.assert_close(found, wanted)
    y = f(*(leaves := operands(*PARTS.values())))
    seeds = torch.randn(4, 5, 2, dtype=torch.float64)
    found = torch.autograd.grad(y, leaves, seeds, is_grads_batched=True)
    torch.testing.assert_close(found, (seeds[:, :3], seeds[:, 3:]))


@pytest.mark.filterwarnings("ignore")
def test_traced_code() -> None:
    torch.compiler.reset()
    f = ed.compile(CONCAT, dtypes="float64", **QUICK, **PARTS)
    given, seed = operands(*PARTS.values()), torch.randn(5, 2, dtype=torch.float64)
    traced = torch.compile(lambda a, b: f(a.sin(), b), backend="aot_eager", fullgraph=True)
    found = torch.autograd.grad(traced(*given), given, seed)
    torch.testing.assert_close(found, (seed[:3] * given[0].cos(), seed[3:]))
    inputs = {"operands": [*given], "text": f._operator_text()}
    torch.library.opcheck(torch.ops.einderive.formula.default, (), inputs)
