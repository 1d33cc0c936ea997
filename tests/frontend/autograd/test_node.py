"""Compiled functions on torch's graph, compared with torch's autograd of the plain line."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck

import einderive as ed
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.caller import Caller
from einderive.ta.errors import OperandError
from tests.frontend.autograd.light import light

LAYER = "Y[b,o] = tanh(sum[i](X[b,i]*W[o,i]) + c[o])"
SHAPES: dict[str, Any] = {"X": (4, 3), "W": (2, 3), "c": (2,)}
QUICK: dict[str, Any] = {"budget": ed.Budget(states=30), "seconds": 0.005, "target": "cpu"}

Tensors = list[torch.Tensor]


def plain(x: torch.Tensor, w: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x @ w.T + c)


@pytest.fixture(scope="module")
def layer() -> Caller:
    return light(LAYER, **SHAPES)


@pytest.fixture(scope="module")
def compiled() -> ed.CompiledFunction:
    return ed.compile(LAYER, dtypes="float64", **QUICK, **SHAPES)


def operands(*shapes: tuple[int, ...], requires: bool = True, seed: int = 0) -> Tensors:
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_(requires)
        for shape in shapes or tuple(SHAPES.values())
    ]


def agrees(
    function: Callable[..., Any], line: Callable[..., Any], given: Tensors, wrt: Tensors
) -> None:
    found, expected = function(*given), line(*given)
    many = isinstance(found, tuple)
    outputs, wanted = (found, expected) if many else ((found,), (expected,))
    for output, value in zip(outputs, wanted, strict=True):
        torch.testing.assert_close(output, value)
    seeds = [torch.randn_like(y) for y in wanted]
    slopes = torch.autograd.grad(outputs, wrt, seeds)
    torch.testing.assert_close(slopes, torch.autograd.grad(wanted, wrt, seeds))


def test_first_and_second_derivatives_and_tangents(layer: Caller) -> None:
    assert gradcheck(layer, operands(), check_forward_ad=True)
    assert gradgradcheck(layer, operands())


def test_only_what_requires_gradients_is_differentiated(layer: Caller) -> None:
    x, w, c = operands()
    agrees(layer, plain, [x, w.detach(), c.detach()], [x])
    agrees(layer, plain, [x.detach(), w, c.detach()], [w])
    output = layer(x.detach(), w, c)
    node = output.grad_fn
    assert node is not None
    assert len(node.saved_tensors) == 3  # type: ignore[attr-defined]
    y = light("Y[i] = A[i] + 2*B[i]", A=(3,), B=(3,))(*operands((3,), (3,)))
    assert y.grad_fn.saved_tensors == ()


def test_no_node_without_need(
    compiled: ed.CompiledFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, without = operands(), operands(requires=False)
    calls: dict[str, Callable[[], torch.Tensor]] = {
        "plain tensors": lambda: compiled(*without),
        "no_grad": torch.no_grad()(lambda: compiled(*given)),
        "inference_mode": torch.inference_mode()(lambda: compiled(*given)),
    }
    for call in calls.values():
        call()
    monkeypatch.setattr(Caller, "unasked", None)  # only the flat functions are left
    for call in calls.values():
        found = call()
        assert not found.requires_grad
        torch.testing.assert_close(found, plain(*without))


def test_a_known_call_with_gradients_is_not_bound_again(
    compiled: ed.CompiledFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = operands()
    compiled(*given).sum().backward()
    compiled(*given)  # the backward pass has chosen how calls are recorded
    monkeypatch.setattr(Caller, "unasked", None)
    for _ in range(2):
        assert compiled(*given).requires_grad


def test_a_known_step_asks_for_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second step of operands of the same layouts runs two programs, and looks nothing up."""
    options: dict[str, Any] = {"effort": "instant", "target": "cpu"}  # no race: it leaves the node
    f = ed.compile(LAYER, dtypes="float64", **options, **SHAPES)
    for seed in (0, 1):
        agrees(f, plain, given := operands(seed=seed), given)
    monkeypatch.setattr(Caller, "unasked", None)
    for name in ("gradient", "zeros", "slopes", "way", "settle"):
        monkeypatch.setattr(Related, name, None)
    agrees(f, plain, given := operands(seed=2), given)
    assert type(f(*given).grad_fn).__name__ == "LinkedBackward"


def test_a_known_step_of_several_outputs_asks_for_nothing_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where all cotangents are given; with fewer, another program gives the gradient."""
    f = light("Y[i] = A[i]*B[i]; Z[i] = A[i] + C[i]", A=(3,), B=(3,), C=(3,))
    line = lambda a, b, c: (a * b, a + c)  # noqa: E731
    shapes = ((3,), (3,), (3,))
    for seed in (0, 1):
        agrees(f, line, given := operands(*shapes, seed=seed), given)
    a, b, c = operands(*shapes)
    for _ in range(3):
        y, z = f(a, b, c)
        found = torch.autograd.grad(y.sum(), (a, b), retain_graph=True)
        torch.testing.assert_close(found, (b, a))
        torch.testing.assert_close(
            torch.autograd.grad(z.sum(), (a, c)), (torch.ones(3).double(),) * 2
        )
    monkeypatch.setattr(Caller, "unasked", None)
    for name in ("gradient", "zeros", "slopes", "way", "settle"):
        monkeypatch.setattr(Related, name, None)
    agrees(f, line, given := operands(*shapes, seed=2), given)


def test_integers_bools_and_unused_outputs() -> None:
    f = light(
        "Y[n,d] = E[I[n],d]*s; M[n] = sum[d](E[I[n],d]) > 0; Z[n] = sum[d](E[I[n],d]^3)",
        dtypes={"E": "float64", "I": "int64", "s": "float64"},
        E=(5, 2), I=(4,), s=(),
    )  # fmt: skip
    (table, scale), index = operands((5, 2), ()), torch.tensor([0, 3, 3, 1])
    y, mask, z = f(table, index, scale)
    assert mask.dtype is torch.bool
    assert not mask.requires_grad
    torch.testing.assert_close(
        torch.autograd.grad(z.sum(), [table, scale], retain_graph=True, allow_unused=True),
        (torch.autograd.grad((table[index] ** 3).sum(), table)[0], None),
    )
    total = (table[index] * scale).sum() + (table[index] ** 3).sum()
    expected = torch.autograd.grad(total, [table, scale])
    torch.testing.assert_close(torch.autograd.grad(y.sum() + z.sum(), [table, scale]), expected)


def test_an_operand_given_twice_and_size_one_batches() -> None:
    f = light("Y[...,i] = x[...,i]*w[...,i]^2", x=(3, 4), w=(1, 4))
    x, w = operands((3, 4), (1, 4))
    agrees(f, lambda x, w: x * w**2, [x, w], [x, w])
    g = light("Y[i] = x[i]*w[i]^2", x=(4,), w=(4,))
    (v,) = operands((4,))
    agrees(g, lambda x, w: x * w**2, [v, v], [v])


def test_other_types_and_converted_results() -> None:
    f = ed.compile("Y[i] = x[i]^2*w[i]", x=(4,), w=(4,), **QUICK)  # for float32
    x, w = operands((4,), (4,))
    agrees(f, lambda x, w: x**2 * w, [x, w], [x, w])
    mixed = [x.detach().float().requires_grad_(), w]
    agrees(f, lambda x, w: x.double() ** 2 * w, mixed, mixed)
    half = ed.compile("Y[i] = x[i]^2", x=(4,), output="bfloat16", **QUICK)
    one = torch.ones(4, requires_grad=True)
    y = half(one)
    assert y.dtype is torch.bfloat16
    y.sum().backward()
    torch.testing.assert_close(one.grad, 2 * torch.ones(4))


def test_operands_by_name_lists_and_out(compiled: ed.CompiledFunction) -> None:
    x, w, c = operands()
    found = compiled(c=[0.5, 1.0], X=x, W=w)
    assert found.requires_grad
    torch.testing.assert_close(found, plain(x, w, torch.tensor([0.5, 1.0]).double()))
    with pytest.raises(OperandError, match="out"):
        compiled(x, w, c, out=torch.empty(4, 2, dtype=torch.float64))


def test_what_was_changed_in_place_is_noticed() -> None:
    f = light("Y[i] = x[i]^2", x=(4,))
    (x,) = operands((4,))
    moved = 2 * x
    y = f(moved)
    with torch.no_grad():
        moved.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = f(2 * x)
    y.mul_(2)  # the result is not needed for the gradient, as in x**2 of torch
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], 16 * x.detach())


def test_results_are_changed_in_place() -> None:
    f = light("Y[i] = 2*A[i]; Z[i] = A[i]^2", A=(3,))
    (a,) = operands((3,))
    y, z = f(a)
    y.mul_(2)
    z[0].add_(y[1])
    expected = torch.stack([2 * a[0], 2 * a[1] + 4, 2 * a[2]])
    torch.testing.assert_close(torch.autograd.grad(z.sum(), a)[0], expected)


def test_operands_without_elements() -> None:
    for rows, columns in ((0, 3), (4, 0)):
        shapes = (rows, columns), (2, columns), (2,)
        f = light(LAYER, **dict(zip("XWc", shapes, strict=True)))
        given = operands(*shapes)
        agrees(f, plain, given, given)
    x, w = operands((4, 0), (2, 0))
    product = light("Y[b,o] = X[b,i]*W[o,i]", X=(4, 0), W=(2, 0))
    agrees(product, lambda x, w: x @ w.T, [x, w], [x, w])


def test_what_depends_by_comparisons_alone_requires_no_gradient() -> None:
    f = light("n = sum[i](A[i] > 0)/3; Y[i] = A[i]^2", A=(3,))
    share, square = f(*operands((3,)))
    assert not share.requires_grad
    assert square.requires_grad


def test_what_has_no_derivative() -> None:
    f = light("Y[i] = trigamma(x[i])*w[i]", x=(4,), w=(4,))
    ones = torch.ones(4, dtype=torch.float64, requires_grad=True)
    assert f(ones.detach(), ones).requires_grad
    with pytest.raises(OperandError, match="trigamma has no derivative"):
        f(ones, ones)
    g = light("Y[i] = floor(x[i])", x=(4,))
    (slope,) = torch.autograd.grad(g(ones).sum(), ones)  # of zeros, as torch's
    assert slope.tolist() == [0.0] * 4
    h = light("Y[i] = (x[i] > 0)*w[i]", x=(4,), w=(4,))
    slopes = torch.autograd.grad(
        h(ones, ones.clone().detach().requires_grad_()).sum(), ones, allow_unused=True
    )
    assert slopes == (None,)  # as torch's, where x stands in a comparison alone


def test_tangents_without_a_transformation(layer: Caller) -> None:
    dual: Any = forward_ad
    given, directions = operands(requires=False), operands(requires=False, seed=1)
    layer(*given)  # a flat function is there, which must not be taken
    with dual.dual_level():
        pairs = [dual.make_dual(*pair) for pair in zip(given, directions, strict=True)]
        found, expected = dual.unpack_dual(layer(*pairs)), dual.unpack_dual(plain(*pairs))
        torch.testing.assert_close(found.tangent, expected.tangent)
        torch.testing.assert_close(found.primal, expected.primal)


def test_threads(layer: Caller) -> None:
    def slopes(seed: int) -> bool:
        given = operands(seed=seed)
        found = torch.autograd.grad(layer(*given).sum(), given)
        expected = torch.autograd.grad(plain(*given).sum(), given)
        return all(map(torch.allclose, found, expected))

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(slopes, range(40)))


def test_a_layer_is_trained_as_by_torch(compiled: ed.CompiledFunction) -> None:
    def losses(function: Callable[..., torch.Tensor]) -> list[float]:
        x, w, c = operands()
        target = operands((4, 2), requires=False, seed=2)[0]
        steps = torch.optim.Adam([w, c], lr=0.05)
        curve = []
        for _ in range(30):
            steps.zero_grad()
            loss = ((function(x.detach(), w, c) - target) ** 2).mean()
            loss.backward()
            steps.step()
            curve.append(loss.item())
        return curve

    found = losses(compiled)
    assert found == pytest.approx(losses(plain), rel=1e-9)
    assert found[-1] < 0.9 * found[0]


def test_the_gradient_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ed.compile("Y[i] = sin(A[i])*B[i]", A=(3,), B=(3,), grad="A", dtypes="float64", **QUICK)
    monkeypatch.setattr("einderive.frontend.compile.compile.compile", None)
    a, b = operands((3,), (3,))
    agrees(f, lambda a, b: a.sin() * b, [a, b.detach()], [a])
    with pytest.raises(TypeError):  # by both, it would be compiled now
        f(a, b).sum().backward()
    with pytest.raises(ed.EinderiveError, match="no operand"):
        f.with_gradient(["C"])


def test_the_log_says_what_is_compiled_at_first_use(caplog: pytest.LogCaptureFixture) -> None:
    f = light("Y[i] = x[i]^2", x=(4,))
    (x,) = operands((4,))
    with caplog.at_level("INFO", "einderive"):
        for _ in range(2):
            f(x).sum().backward()
    first, second = (record.getMessage() for record in caplog.records)
    assert first == "compiling dx, at their first use"
    assert second.startswith("compiled dx in ")
