"""Short inner loops whose last steps are one more vector, which overlaps the one before."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.cpu_kernels.overlapped import LONGEST
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled

SHAPES = {"X": (9, 0), "Z": (9,)}
TEXTS = (
    "Y[i,k] = exp(X[i,k] - Z[i])",
    "Y[i,k] = X[i,k]*Z[i] + 1; W[i,k] = where(X[i,k] > 0, 1, Z[i])",
    "Y[i] = sum[k](exp(X[i,k])*Z[i])",
    "P[i] = prod[k](tanh(X[i,k])); Q[i] = max[k](expm1(X[i,k])); R[i] = argmax[k](exp(-X[i,k]))",
    "M[i] = max[j](X[i,j]); E[i,k] = exp(X[i,k]-M[i]); S[i] = sum[j](E[i,j]); "
    "out Y[i,k] = E[i,k]/S[i]",
)


def made(text: str, extent: int, dtype: str) -> tuple[Kernel, dict[str, tuple[int, ...]]]:
    shapes = {name: SHAPES[name] for name in SHAPES if f"{name}[" in text}
    shapes = {name: tuple(n or extent for n in shape) for name, shape in shapes.items()}
    roots = parse(text, shapes, dtypes=dict.fromkeys(shapes, dtype)).roots()
    group = Group(stages(*roots), roots)
    typing = typing_of(group, [getattr(torch, dtype)] * len(group.operands))
    return build(group, dense(group), typing), shapes


def twice(kernel: Kernel) -> bool:
    """Whether there are two loops over one pass's steps."""
    lines = [line.strip() for line in kernel.source.splitlines()]
    return any(line.startswith("for i1 in range(0, ") for line in lines) and any(
        line.startswith("for i1 in range(") and not line.startswith("for i1 in range(0, ")
        for line in lines
    )


@sampled(10)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("extent", [17, 20, 31, 45, 157])
@pytest.mark.parametrize("text", TEXTS)
def test_each_step_counts_once(text: str, extent: int, dtype: str) -> None:
    kernel, shapes = made(text, extent, dtype)
    if extent % 16 >= 3:
        assert twice(kernel)
    generator = torch.Generator().manual_seed(extent)
    given = [torch.randn(s, generator=generator).to(getattr(torch, dtype)) for s in shapes.values()]
    order = [source.label for source in kernel.group.operands]
    named = dict(zip(shapes, given, strict=True))
    values = {name: value.double().numpy() for name, value in named.items()}
    found = kernel(*(named[name] for name in order))
    near = {"float32": 2e-5, "float64": 1e-12, "bfloat16": 2e-2}[dtype]
    for result, root in zip(found, kernel.group.outputs, strict=True):
        exact = np.asarray(evaluate(root, values, RealField()), dtype=float)
        np.testing.assert_allclose(result.double().numpy(), exact, rtol=near, atol=near)


@pytest.mark.parametrize(
    ("text", "extent"),
    [
        ("Y[i,k] = exp(X[i,k] - Z[i])", 16),
        ("Y[i,k] = exp(X[i,k] - Z[i])", 32),
        ("Y[i,k] = exp(X[i,k] - Z[i])", LONGEST + 5),
        ("Y[i,k] = X[i,k] - Z[i]", 18),
        ("Y[i] = sum[k](X[i,k]*X[i,k])", 28),
        ("Y[i] = sum[k](exp(X[i,k]))", 18),
        ("Y[i,k] = sin(X[i,k] - Z[i])", 31),
        ("Y[k] = sum[i](exp(X[i,k]))", 31),
    ],
)
def test_where_one_loop_is_better(text: str, extent: int) -> None:
    """Whole vectors, few steps that are left, totals in memory, functions that run twice."""
    kernel, _ = made(text, extent, "float32")
    assert not twice(kernel)


@pytest.mark.parametrize("extent", [29, 31, 127])
def test_sums_without_functions_have_two_loops_where_many_steps_are_left(extent: int) -> None:
    kernel, _ = made("Y[i] = sum[k](X[i,k]*X[i,k]); W[i] = max[k](X[i,k])", extent, "float32")
    assert twice(kernel)
    x = torch.randn(9, extent)
    total, most = kernel(x)
    torch.testing.assert_close(total, (x * x).sum(1))
    assert torch.equal(most, x.amax(1))


def test_sizes_that_are_arguments_have_one_loop() -> None:
    roots = parse("Y[i,k] = exp(X[i,k] - Z[i])", {"X": (9, 31), "Z": (9,)}, "float32").roots()
    group = Group(stages(*roots), roots)
    typing = typing_of(group, [torch.float32] * 2)
    assert not twice(build(group, dense(group), typing, open_sizes=True))
