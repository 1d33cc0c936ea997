"""Programs derived for a GPU, run on one: kernels against the interpreter's float64 values."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.eops.triton_kernels.build import Kernel
from einderive.frontend.accuracy.accept import at_points
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.inputs.drawn import random_inputs
from einderive.frontend.api.compiled import Derivation
from einderive.frontend.bench.suite import DEMO, Case
from einderive.frontend.running.execute import executable
from einderive.ta.equality.positions import positions
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, evaluate_at
from einderive.ta.ir.node import Tensor

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
KERNEL = "eOperator (Triton)"
PLANS = 8
"""So many programs of a formula are run."""

FORMULAS: dict[str, tuple[str, dict[str, Any]]] = {
    "chain": ("Y[i,j] = (A[i,j]*B[j]+A[i,j])/(3+B[j]^2)", {"A": (37, 65), "B": (65,)}),
    "stencil": ("Y[i] = A[i-1]-2*A[i]+A[i+1] where i in 0:300", {"A": (300,)}),
    "window with a fill": (
        "Y[i] = max[r](A{fill=-inf}[2*i+r-2]*2+B[r]) where i in 0:140",
        {"A": (280,), "B": (5,)},
    ),
    "mask": ("Y[i,j] = where(j <= i, 2*A[i,j], 0)*B[j]", {"A": (33, 33), "B": (33,)}),
    "digits": ("Y[i] = A[i//7,i%7]*B[(i+3)//5] where i in 0:63", {"A": (9, 7), "B": (13,)}),
    "repeated rows": ("Y[i,j] = A[i//3,k]*B[k,j] where i in 0:66", {"A": (22, 40), "B": (40, 17)}),
    "long rows": ("Y[i] = (A[i,k]-B[k])^2", {"A": (5, 700), "B": (700,)}),
    "columns": ("Y[k] = (A[i,k]-B[k])^2", {"A": (40, 70), "B": (70,)}),
    "max plus": ("Y[i,j] = max[k](A[i,k]+B[k,j])", {"A": (9, 40), "B": (40, 21)}),
    "min of differences": ("Y[i] = min[j](abs(A[i]-B[j]))", {"A": (30,), "B": (90,)}),
    "product": ("Y[i] = prod[k](A[i,k]+B[k])", {"A": (12, 9), "B": (9,)}),
    "convolution": (
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:5, w in 0:6",
        {"A": (2, 5, 6, 8), "K": (3, 3, 4, 8)},
    ),
    "band": (
        "Y[b,m,w] = A[b,m,k]*B[b,m+2*(w-4),k] where w in 0:9",
        {"A": (2, 48, 16), "B": (2, 48, 16)},
    ),
    "transposed convolution": (
        "Y[n,h,w,f] = A[n,i,j,c]*K[h+1-2*i,w+1-2*j,f,c] where h in 0:4, w in 0:4",
        {"A": (2, 2, 2, 8), "K": (4, 4, 3, 8)},
    ),
    "two outputs": (
        "T[i] = A[i,k]*A[i,k]; Y[i,j] = A[i,j]-T[i]; Z[i] = T[i]*B[i]",
        {"A": (20, 30), "B": (20,)},
    ),
}
"""Every kind of stage: elementwise, windows, fills, masks, digits, every reducer, both shapes of a
long reduction, and what the derivations leave beside library operators."""
FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "softmax": (
        "M[i] = max[j](A[i,j]); E[i,j] = exp(A[i,j]-M[i]); D[i] = sum[j](E[i,j]);"
        " Y[i,j] = E[i,j]/D[i]",
        {"A": (17, 90)},
    ),
    "layer norm": (
        "M[i] = A[i,k]/64; V[i] = (A[i,k]-M[i])^2/64;"
        " Y[i,k] = (A[i,k]-M[i])*rsqrt(V[i]+1/100000)*B[k]",
        {"A": (11, 64), "B": (64,)},
    ),
    "activations": (
        "Y[i] = gelu(A[i])+silu(B[i])*tanh(A[i])-softplus(B[i])/sigmoid(A[i])",
        {"A": (700,), "B": (700,)},
    ),
}
FLOATS = {"float32": 4e-6, "float16": 6e-3, "bfloat16": 5e-2, "float64": 1e-13}
"""The error relative to the largest value that each type may have: stages of half types are rounded
in between."""
INTEGERS = ("int8", "uint8", "int32", "int64", "bool")
WHOLE = [name for name in FORMULAS if name != "chain"]
"""The formulas that integers can have without leaving the integers."""


@pytest.fixture(autouse=True)
def exact_products() -> Iterator[None]:
    """float32 is float32: torch's convolutions use TF32 unless told otherwise."""
    with torch.backends.cudnn.flags(allow_tf32=False):
        yield


def inputs_of(derivation: Derivation, seed: int = 3) -> dict[Tensor, torch.Tensor]:
    return random_inputs(derivation.source.inputs, DEVICE, seed)


def wide(inputs: dict[Tensor, torch.Tensor]) -> dict[str, np.ndarray]:
    return {t.name: value.cpu().double().numpy() for t, value in inputs.items()}


def with_kernels(derivation: Derivation) -> list[Plan]:
    """Programs that have a generated kernel, the formula as written and the cheapest first."""
    plans = [derivation.unchanged, *derivation.candidates]
    return [plan for plan in plans if KERNEL in executable(plan, "cuda").words][:PLANS]


def largest_error(derivation: Derivation, plan: Plan) -> float:
    """Of a program's outputs against float64, relative to the largest value of each."""
    inputs = inputs_of(derivation)
    types = output_types(derivation.source)
    outputs = executable(plan, "cuda", types)(inputs)
    worst = 0.0
    for root, output, dtype in zip(derivation.source.roots(), outputs, types, strict=True):
        wanted = np.asarray(evaluate(root, wide(inputs), RealField()), dtype=np.float64)
        assert output.dtype == dtype
        assert output.device.type == DEVICE
        found = output.cpu().double().numpy()
        assert found.shape == wanted.shape
        off = np.abs(found - wanted).max() / (np.abs(wanted).max() or 1.0)
        worst = max(worst, float("inf") if np.isnan(off) else float(off))
    return worst


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*FORMULAS, *FUNCTIONS])
def test_programs_with_kernels(name: str, dtype: str) -> None:
    text, shapes = (FORMULAS | FUNCTIONS)[name]
    found = ed.derive(text, target="cuda", dtypes=dtype, budget=ed.Budget(states=400), **shapes)
    plans = with_kernels(found)
    assert plans
    errors = {number: largest_error(found, plan) for number, plan in enumerate(plans)}
    assert {n: off for n, off in errors.items() if not off <= FLOATS[dtype]} == {}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", WHOLE)
def test_integers_are_exact(name: str, dtype: str) -> None:
    text, shapes = FORMULAS[name]
    found = ed.derive(text, target="cuda", dtypes=dtype, budget=ed.Budget(states=200), **shapes)
    plans = with_kernels(found)
    assert plans
    assert [largest_error(found, plan) for plan in plans] == [0.0] * len(plans)


@pytest.mark.parametrize("case", DEMO, ids=lambda case: case.name)
def test_the_examples_compile(case: Case) -> None:
    """Each compiled function, on other inputs than it was chosen with, at points of the output."""
    options: Any = case.shapes
    run = ed.compile(case.text, target="cuda", ranges=case.ranges, seconds=0.05, **options)
    assert run.derivation.check()
    inputs = inputs_of(run.derivation, seed=8)
    output = run(**{tensor.name: value for tensor, value in inputs.items()})
    (root,) = run.derivation.source.roots()
    points = positions(root, 24)
    wanted = np.asarray(evaluate_at(root, points, wide(inputs), RealField()), dtype=np.float64)
    found = at_points(root, points, output).cpu().double().numpy()
    largest = float(output.abs().max())
    np.testing.assert_allclose(found, wanted, rtol=0, atol=4e-6 * largest)


STRICT: dict[str, tuple[str, dict[str, Any]]] = {
    "product": ("Y[i,j] = A[i,k]*B[k,j]", {"A": (7, 40), "B": (40, 9)}),
    "window": ("Y[i] = max[r](A[i+r-1]) where i in 0:60, r in 0:3", {"A": (60,)}),
    "convolution": (
        "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*B[f,c,r,s] where h in 0:6, w in 0:6",
        {"A": (1, 3, 6, 6), "B": (4, 3, 3, 3)},
    ),
    "softmax": FUNCTIONS["softmax"],
}


@pytest.mark.parametrize("name", STRICT)
def test_strict_programs_have_nan_where_the_formula_has_it(name: str) -> None:
    text, shapes = STRICT[name]
    run = ed.compile(text, target="cuda", nan="strict", seconds=0.05, **shapes)
    (root,) = run.derivation.source.roots()
    kinds = set()
    for special in (float("nan"), float("inf"), float("-inf")):
        inputs = inputs_of(run.derivation)
        inputs[run.derivation.source.inputs[0]].view(-1)[11] = special
        with np.errstate(invalid="ignore"):
            wanted = np.asarray(evaluate(root, wide(inputs), RealField()), dtype=np.float64)
        output = run(**{tensor.name: value for tensor, value in inputs.items()})
        found = output.cpu().double().numpy()
        odd = ~np.isfinite(wanted)
        kinds |= {str(value) for value in wanted[odd]}
        np.testing.assert_array_equal(found[odd], wanted[odd])
        assert np.isfinite(found[~odd]).all()
    assert kinds


def product() -> Any:
    return ed.compile("Y[i] = max[k](A[i,k]*B[k])", target="cuda", A=(50, 40), B=(40,), seconds=0)


def test_operands_of_any_layout() -> None:
    """Transposed, stepped and, by one element, misaligned operands, after aligned ones."""
    run = product()
    a, b = torch.randn(50, 40, device=DEVICE), torch.randn(40, device=DEVICE)
    wanted = (a.double() * b.double()).amax(1)
    torch.testing.assert_close(run(a, b).double(), wanted)
    torch.testing.assert_close(run(a.t().contiguous().t(), b).double(), wanted)
    stepped = torch.zeros(50, 80, device=DEVICE)
    stepped[:, ::2] = a
    torch.testing.assert_close(run(stepped[:, ::2], b).double(), wanted)
    odd = torch.zeros(41, device=DEVICE)
    odd[1:] = b
    torch.testing.assert_close(run(a, odd[1:]).double(), wanted)


def kernel_program() -> Any:
    """A program that is one generated kernel, so that what is tested is that."""
    found = ed.derive("Y[i] = max[k](A[i,k]*B[k])", target="cuda", A=(50, 40), B=(40,))
    run = executable(found.unchanged, "cuda")
    assert run.words == (KERNEL,)
    a, b = found.source.inputs
    return lambda x, y: run({a: x, b: y})[0]


def test_kernels_run_on_the_stream_of_their_caller() -> None:
    run = kernel_program()
    a, b = torch.randn(50, 40, device=DEVICE), torch.randn(40, device=DEVICE)
    run(a, b)  # the fastest configuration is looked for here
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        run(a, b)
    stream.synchronize()
    with torch.cuda.graph(graph):  # what ran on any other stream would not be in the graph
        output = run(a, b)
    a.normal_()
    graph.replay()
    torch.testing.assert_close(output.double(), (a.double() * b.double()).amax(1))


def test_the_next_launches_take_what_the_first_one_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = kernel_program()
    a, b = torch.randn(50, 40, device=DEVICE), torch.randn(40, device=DEVICE)
    first = run(a, b)
    kept = first.clone()
    ways: list[str] = []
    usual = Kernel.outputs

    def counted(self: Kernel, *given: Any) -> tuple[torch.Tensor, ...]:
        ways.append("usual")
        return usual(self, *given)

    monkeypatch.setattr(Kernel, "outputs", counted)
    second = run(-a, b)
    assert ways == []
    torch.testing.assert_close(second.double(), (-a.double() * b.double()).amax(1))
    assert torch.equal(first, kept)
    odd = torch.zeros(41, device=DEVICE)
    odd[1:] = b
    torch.testing.assert_close(run(a, odd[1:]).double(), (a.double() * b.double()).amax(1))
    assert ways == ["usual"]  # not aligned as the compiled kernel expects it
    double = run(a.double(), b)
    assert ways == ["usual"] * 2
    torch.testing.assert_close(double, (a.double() * b.double()).amax(1))


@pytest.mark.parametrize(("dtype", "kernels"), [("bfloat16", 1), ("float16", 1), ("float32", 0)])
def test_elementwise_stages_in_half_precision_are_kernels(
    monkeypatch: pytest.MonkeyPatch, dtype: str, kernels: int
) -> None:
    """torch's operations would write float32 copies of the operands."""
    found = ed.derive("Y[i,j] = A[i,j]+B[j]", target="cuda", dtypes=dtype, A=(50, 40), B=(40,))
    run = executable(found.unchanged, "cuda")
    assert run.words == ("elementwise",)
    ways: list[str] = []
    usual = Kernel.outputs

    def counted(self: Kernel, *given: Any) -> tuple[torch.Tensor, ...]:
        ways.append("kernel")
        return usual(self, *given)

    monkeypatch.setattr(Kernel, "outputs", counted)
    inputs = inputs_of(found)
    assert torch.equal(run(inputs)[0], torch.add(*inputs.values()))
    assert len(ways) == kernels


def test_threads_may_call_first_together() -> None:
    run = kernel_program()
    a, b = torch.randn(50, 40, device=DEVICE), torch.randn(40, device=DEVICE)
    wanted = (a.double() * b.double()).amax(1)
    found: list[torch.Tensor] = []
    threads = [threading.Thread(target=lambda: found.append(run(a, b))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(threads)
    for output in found:
        torch.testing.assert_close(output.double(), wanted)


def test_einsum_of_gpu_tensors() -> None:
    a, b = torch.randn(30, 40, device=DEVICE), torch.randn(40, 20, device=DEVICE)
    c = torch.randn(20, 10, device=DEVICE)
    found = ed.einsum("ij,jk,kl->il", a, b, c)
    assert found.device.type == DEVICE
    wanted = a.double() @ b.double() @ c.double()
    torch.testing.assert_close(
        found.double(), wanted, rtol=0, atol=4e-6 * float(wanted.abs().max())
    )
