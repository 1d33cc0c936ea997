"""Sums that are multiplied out and repaired: as exact as written on hard data too, in each element.

The oracle is the stage in float64, which evaluates differences as they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from einderive.derivations.matching.match import match
from einderive.eops.library.repaired import AMPLIFIED, REPAIRED
from einderive.eops.torch_views.stage import lower
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse

DISTANCES = "Y[i,j] = (A[i,k]-B[j,k])^2"
POINTS = {"A": (60, 48), "B": (50, 48)}
Values = dict[str, torch.Tensor]


def bound_to(text: str, shapes: Mapping[str, tuple[int, ...]], dtype: str) -> tuple[Scope, Binding]:
    (scope,) = parse(text, shapes, dtype).roots()
    found = match(REPAIRED, scope)
    assert isinstance(found, Binding)
    return scope, found


def results(text: str, values: Values) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Repaired, as written in the same types, and as written in float64."""
    dtype = str(values["A"].dtype).removeprefix("torch.")
    shapes = {name: tuple(value.shape) for name, value in values.items()}
    scope, found = bound_to(text, shapes, dtype)
    tensors = {read.source.name: read.source for read in found.operands}  # type: ignore[union-attr]
    buffers = {tensors[name]: value for name, value in values.items()}
    wide = {tensor: value.double() for tensor, value in buffers.items()}
    written = lower(scope)
    return REPAIRED.launch(found)(buffers), written(buffers), written(wide)


def normal(generator: torch.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.randn(shape, generator=generator)


def offset(generator: torch.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    return normal(generator, shape) + 1000


def clusters(generator: torch.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    places = 2.0 * torch.randint(2, (shape[0], 1), generator=generator) - 1
    return normal(generator, shape) + 1000 * places


def few_far(generator: torch.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    data = normal(generator, shape)
    data[0] += 1e5
    return data


DATA: tuple[Callable[[torch.Generator, tuple[int, ...]], torch.Tensor], ...] = (
    normal,
    offset,
    clusters,
    few_far,
)


@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("text", [DISTANCES, "Y[i,j] = (A[i,k]-B[j,k])^4*W[k]^2"])
def test_each_element_on_hard_data(text: str, make: Callable[..., torch.Tensor]) -> None:
    """At most `AMPLIFIED` roundings more than as written; one mean alone loses 6 digits."""
    generator = torch.Generator().manual_seed(0)
    values = {name: make(generator, shape) for name, shape in POINTS.items()}
    values["B"][3] = values["A"][5]  # equal points
    values["B"][4] = values["A"][6] + 1e-3
    if "W" in text:
        values["W"] = torch.randn(48, generator=generator)
    found, written, exact = results(text, values)
    assert found.dtype == torch.float32
    assert float(found[5, 3]) == 0
    off = (found - exact).abs() / exact.abs().clamp_min(1e-300)
    as_written = (written - exact).abs() / exact.abs().clamp_min(1e-300)
    assert float(off.max()) <= float(as_written.max()) + AMPLIFIED * torch.finfo(torch.float32).eps


@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize(
    ("text", "further"),
    [
        ("Y[i,j,l] = (A[i,k]-B[j,k])*P[k,l]", {"P": (48, 16)}),
        ("Y[i,j] = (A[i,k]-B[j,k])*P[k,l]*(A[i,l]-B[j,l])", {"P": (48, 48)}),
        ("Y[i,j] = (A[i,k]-B[j,k])^3", {}),
    ],
)
def test_sums_of_either_sign(
    text: str, further: dict[str, tuple[int, ...]], make: Callable[..., torch.Tensor]
) -> None:
    """Each row is as exact as written but for `AMPLIFIED` roundings of its largest element."""
    generator = torch.Generator().manual_seed(1)
    values = {name: make(generator, shape) for name, shape in POINTS.items()}
    values |= {name: torch.randn(shape, generator=generator) for name, shape in further.items()}
    found, written, exact = results(text, values)
    rows = [result.flatten(0, -2) for result in (found, written, exact)]
    size = rows[2].abs().amax(1)
    off, as_written = ((row - rows[2]).abs().amax(1) / size for row in rows[:2])
    eps = torch.finfo(torch.float32).eps
    assert float(off.max()) <= 4 * float(as_written.max()) + AMPLIFIED * eps


def test_nan_and_infinities_stay_where_they_are() -> None:
    generator = torch.Generator().manual_seed(2)
    values = {name: offset(generator, shape) for name, shape in POINTS.items()}
    values["A"][3, 2] = float("inf")
    values["A"][7, 1] = float("nan")
    values["B"][4, 2] = -float("inf")
    values["B"][9, 2] = float("inf")
    values["A"][11] = 1e30  # squares overflow
    found, written, _ = results(DISTANCES, values)
    assert torch.equal(found.isnan(), written.isnan())
    assert torch.equal(found.isinf(), written.isinf())
    plain = written.isfinite()
    assert torch.allclose(found[plain], written[plain], rtol=1e-5)
    assert 0 < int(plain.sum()) < plain.numel()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_element_types(dtype: torch.dtype) -> None:
    """16 bits are computed in float32 and rounded once, a mean beyond their range included."""
    generator = torch.Generator().manual_seed(3)
    scale = 8000.0 if dtype == torch.float16 else 1000.0
    values = {n: (normal(generator, s) * 8 + scale).to(dtype) for n, s in POINTS.items()}
    found, _, exact = results(DISTANCES, values)
    assert found.dtype == dtype
    eps = torch.finfo(dtype).eps
    assert float(((found - exact).abs() / exact.clamp_min(1e-300)).max()) <= AMPLIFIED * eps


def test_a_batch_and_any_order_of_loops() -> None:
    generator = torch.Generator().manual_seed(4)
    values = {"A": torch.randn(3, 20, 8, generator=generator) + 1000}
    values["B"] = values["A"].transpose(0, 1).contiguous().flip(0)
    found, _, exact = results("Y[j,b,i] = (A[b,i,k]-B[j,b,k])^2", values)
    assert found.shape == (20, 3, 20)
    off = (found - exact).abs() / exact.clamp_min(1e-300)
    assert float(off.max()) <= AMPLIFIED * torch.finfo(torch.float32).eps


class _Recorded(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.names.append(function.__name__)
        return function(*args, **(kwargs or {}))


def test_what_depends_on_the_data_is_one_call() -> None:
    """Whoever records torch's calls sees the same ones whatever the data are."""
    scope, found = bound_to(DISTANCES, POINTS, "float32")
    launch = REPAIRED.launch(found)
    sources = [read.source for read in found.operands]
    seen = []
    generator = torch.Generator().manual_seed(5)
    for make in (normal, clusters, few_far):
        buffers = {s: make(generator, s.shape) for s in sources}  # type: ignore[union-attr]
        with _Recorded() as recorded:
            launch(buffers)
        seen.append([name for name in recorded.names if name != "__get__"])
    assert seen[0].count("repair") == 1
    outside = {"nonzero", "item", "__bool__", "__int__", "index_select", "count_nonzero"}
    assert outside.isdisjoint(seen[0])
    assert seen[0] == seen[1] == seen[2]
    assert scope.shape == (60, 50)


def test_a_mean_behind_what_the_stage_reads_is_computed_again() -> None:
    """The weights were made from the mean of B, which is gone when the sum is computed."""
    text = """
    M[k] = sum[j](B[j,k]/50)
    W[j] = sum[k](abs(B[j,k] - M[k]))
    Y[i] = sum[j,k](W[j]*(A[i,k] - B[j,k])^2)
    """
    program = parse(text, {"A": (60, 4), "B": (50, 4)}, "float32")
    (scope,) = program.roots()
    mean, weights = stages(scope)[:2]
    found = match(REPAIRED, scope)
    assert isinstance(found, Binding)
    generator = torch.Generator().manual_seed(0)
    a, b = offset(generator, (60, 4)), offset(generator, (50, 4))
    tensors = {tensor.name: tensor for tensor in program.inputs}
    buffers = {tensors["A"]: a, tensors["B"]: b, weights: (b - b.mean(0)).abs().sum(1)}
    assert mean not in buffers
    wide = {source: value.double() for source, value in buffers.items()}
    expected = lower(scope)(wide)
    torch.testing.assert_close(
        REPAIRED.launch(found)(buffers).double(), expected, rtol=2e-6, atol=0
    )
