"""Calls in the capture of a CUDA graph: what a replay repeats is right for other data too.

Without a GPU the capture is pretended: nothing may be timed, kept or decided from the data then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import einderive as ed
from einderive.derivations.matching.match import match
from einderive.eops import opaque
from einderive.eops.back_ends import kept_weights
from einderive.eops.capture import capturing
from einderive.eops.library import repaired
from einderive.frontend.call import caller
from einderive.frontend.call.caller import Caller
from einderive.frontend.running.execute import executable
from einderive.ta.errors import BuildError
from einderive.ta.ir.operator import Binding
from einderive.ta.notation.parse import parse

DISTANCES = "Y[i,j] = (A[i,k]-B[j,k])^2"
POINTS = {"A": (60, 48), "B": (50, 48)}
KEPT = "E[i] = exp(K[i])*2; Y[i] = X[i]*E[i]"
Call = Callable[..., Any]


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list: a capture goes on while something is in it."""
    state: list[bool] = []
    for module in (opaque, repaired, kept_weights, caller):
        monkeypatch.setattr(module, "capturing", lambda: bool(state))
    return state


class NothingRead(TorchDispatchMode):
    """The host reads no element, on which it might decide."""

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        assert func.__name__ not in ("_local_scalar_dense.default", "nonzero.default")
        return func(*args, **(kwargs or {}))


def test_there_is_no_capture_without_a_device() -> None:
    assert capturing() is False


def test_the_first_call_is_not_captured(pretended: list[bool]) -> None:
    """What is made once would be made at a replay, in memory of the graph."""
    found = ed.derive("Y[i] = where(i < 3, A[i], B[i])*2", budget=0.01, A=(6,), B=(6,))
    call = Caller(found.source, executable(found.unchanged, "cpu"), "cpu")
    a, b = torch.randn(6), torch.randn(6)
    pretended.append(True)
    with pytest.raises(BuildError, match="before the capture"):
        call(a, b)
    pretended.clear()
    expected = call(a, b)
    pretended.append(True)
    assert torch.equal(call(a, b), expected)
    assert torch.equal(call(A=a, B=b), expected)
    with pytest.raises(BuildError, match="before the capture"):
        call(torch.randn(12)[::2], b)  # of other strides


def test_a_repaired_sum_is_computed_as_written(pretended: list[bool]) -> None:
    launch, (a, b) = distances("cpu")
    b[3] = a[5]
    expected = (a[:, None] - b[None]).square().sum(-1)
    with pytest.raises(AssertionError), NothingRead():
        launch(a, b)
    pretended.append(True)
    with NothingRead():
        found = launch(a, b)
    torch.testing.assert_close(found, expected)


def test_what_weights_alone_give_is_computed_in_the_graph(pretended: list[bool]) -> None:
    run, (x, k) = with_weights("cpu")
    kept = run(x, k)
    pretended.append(True)
    k.data.add_(1)  # past torch's count, as a replay sees it
    torch.testing.assert_close(run(x, k), x * k.exp() * 2)
    pretended.clear()
    assert torch.equal(run(x, k), kept)  # the capture left alone what is kept


def test_assumptions_are_checked_before(pretended: list[bool]) -> None:
    text = "assume A > 0; Y[i] = sqrt(A[i]^2)"
    f = ed.compile(text, target="cpu", A=(5,), budget=0.1, seconds=0.02)
    f(torch.ones(5))
    pretended.append(True)
    with NothingRead():
        f(torch.ones(5))


def distances(device: str) -> tuple[Call, tuple[torch.Tensor, ...]]:
    """A sum that is multiplied out and repaired, as a function of its operands."""
    (scope,) = parse(DISTANCES, POINTS, "float32").roots()
    found = match(repaired.REPAIRED, scope)
    assert isinstance(found, Binding)
    launch = repaired.REPAIRED.launch(found)
    read: list[Any] = [operand.source for operand in found.operands]  # type: ignore[union-attr]
    sources = [next(each for each in read if each.name == name) for name in POINTS]
    given = tuple([torch.randn(shape, device=device) for shape in POINTS.values()])
    return lambda *tensors: launch(dict(zip(sources, tensors, strict=True))), given


def with_weights(device: str) -> tuple[Call, tuple[torch.Tensor, ...]]:
    """A program that keeps what it computes from its weights."""
    found = ed.derive(KEPT, target=device, X=(40,), K=(40,), weights=["K"], budget=0.01)
    run = executable(found.unchanged, device)
    assert run.kept
    x, k = sorted(found.source.inputs, key=lambda tensor: tensor.name, reverse=True)
    given = (torch.randn(40, device=device), torch.randn(40, device=device))
    return lambda *tensors: run(dict(zip((x, k), tensors, strict=True)))[0], given


FORMULAS: dict[str, tuple[str, dict[str, Any]]] = {
    "maxima of products": ("Y[i] = max[k](A[i,k]*B[k])", {"A": (50, 40), "B": (40,)}),
    "product": ("Y[i,j] = A[i,k]*B[k,j]", {"A": (64, 48), "B": (48, 80)}),
    "mask": ("Y[i,j] = where(j <= i, 2*A[i,j], 0)*B[j] + i", {"A": (33, 33), "B": (33,)}),
    "softmax": ("Y[i,j] = softmax[j](A[i,j]+B[j])", {"A": (17, 90), "B": (90,)}),
    "long sum": ("Y = sum[i](A[i]*B[i])", {"A": (1 << 20,), "B": (1 << 20,)}),
    "band": (
        "Y[b,m,w] = A[b,m,k]*B[b,m+2*(w-4),k] where w in 0:9",
        {"A": (2, 48, 16), "B": (2, 48, 16)},
    ),
    "distances": (DISTANCES, POINTS),
    "two outputs": (
        "M[i] = max[k](A[i,k]); Y[i,k] = A[i,k]-M[i]+B[k]",
        {"A": (20, 30), "B": (30,)},
    ),
}


def compiled(name: str) -> tuple[ed.CompiledFunction, tuple[torch.Tensor, ...]]:
    text, shapes = FORMULAS[name]
    options = {"budget": 0.2, "seconds": 0.05, "remember": False}
    run = ed.compile(text, target="cuda", **options, **shapes)
    inputs = run.formula.inputs
    return run, tuple([torch.randn(tensor.shape, device="cuda") for tensor in inputs])


def replayed(call: Call, operands: Sequence[torch.Tensor]) -> None:
    """The graph of a call gives what the call gives, also for other contents of the operands."""
    side, current = torch.cuda.Stream(), torch.cuda.current_stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        for _ in range(3):
            call(*operands)
    current.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = call(*operands)
    outputs = captured if isinstance(captured, tuple) else (captured,)
    for _ in range(3):
        with torch.no_grad():
            for operand in operands:
                operand.normal_()
        graph.replay()
        found = [output.detach().clone() for output in outputs]
        expected = call(*operands)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other.detach(), rtol=1e-5, atol=1e-4)
        graph.replay()
        for output, one in zip(outputs, found, strict=True):
            assert torch.equal(output.detach(), one)  # calls in between changed nothing of it


@pytest.mark.gpu
@pytest.mark.parametrize("name", FORMULAS)
def test_a_compiled_function(name: str) -> None:
    replayed(*compiled(name))


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["mask", "softmax", "two outputs"])
def test_the_operator_of_torch(name: str) -> None:
    run, operands = compiled(name)
    replayed(run.as_torch_op(f"captured_{name.replace(' ', '_')}"), operands)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["mask", "softmax"])
def test_gradients(name: str) -> None:
    run, operands = compiled(name)
    for operand in operands:
        operand.requires_grad_()

    def step(*operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = run(*operands)
        return (y, *torch.autograd.grad(y.square().sum(), operands))

    replayed(step, operands)


@pytest.mark.gpu
def test_a_repaired_sum() -> None:
    replayed(*distances("cuda"))


@pytest.mark.gpu
def test_weights_that_change() -> None:
    replayed(*with_weights("cuda"))


@pytest.mark.gpu
def test_generated_kernels_for_operands_that_are_not_aligned() -> None:
    text, shapes = FORMULAS["maxima of products"]
    found = ed.derive(text, target="cuda", budget=0.01, **shapes)
    run = executable(found.unchanged, "cuda")
    a, b = found.source.inputs
    odd = torch.randn(41, device="cuda")[1:]
    replayed(lambda x, y: run({a: x, b: y})[0], (torch.randn(50, 40, device="cuda"), odd))


@pytest.mark.gpu
def test_the_first_call_in_a_capture_says_what_to_do() -> None:
    run, operands = compiled("mask")
    other = torch.randn(66, 33, device="cuda")[::2]

    def capture() -> None:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            torch.add(*operands)  # torch warns of a graph of nothing
            run(other, operands[1])

    with pytest.raises(BuildError, match="before the capture"):
        capture()
    torch.cuda.synchronize()
    run(other, operands[1])
