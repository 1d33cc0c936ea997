"""Compiled chains of functions in passes, beside torch in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import Strides, dense
from einderive.eops.loops.drafts.group import Group
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse

Line = Callable[[torch.Tensor], torch.Tensor]
FORMULAS: dict[str, tuple[str, tuple[int, ...], Line]] = {
    "mish": ("Y[i] = X[i]*tanh(log1p(exp(X[i])))", (5003,), torch.nn.functional.mish),
    "a border": (
        "Y[i] = tanh(log1p(exp(X[i-1]))) where i in 0:2001",
        (2000,),
        lambda x: torch.tanh(torch.nn.functional.softplus(torch.nn.functional.pad(x, (1, 0)))),
    ),
    "two results": (
        "Y[i] = tanh(exp(sin(X[i+1]))) + X[i] where i in 0:1999; "
        "Z[i] = tanh(exp(sin(X[i+1]))) * X[i] where i in 0:1999",
        (2000,),
        lambda x: torch.tanh(torch.exp(torch.sin(x[1:]))) + x[:-1],
    ),
    "sums of rows": (
        "Y[i] = sum[k](tanh(log1p(exp(X[i,k]))))",
        (7, 700),
        lambda x: torch.tanh(torch.nn.functional.softplus(x)).sum(1),
    ),
    "a row after its total": (
        "S[i] = sum[k](X[i,k]^2); Y[i,k] = tanh(log1p(exp(X[i,k]/(1+S[i]))))",
        (7, 700),
        lambda x: torch.tanh(torch.nn.functional.softplus(x / (1 + (x * x).sum(1, True)))),
    ),
}
TYPES = {"float32": 2e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 2e-2}


def kernel(
    text: str,
    shape: tuple[int, ...],
    dtype: str = "float32",
    strides: Strides | None = None,
    *,
    opened: bool = False,
) -> Kernel:
    roots = parse(text, {"X": shape}, dtype).roots()
    group = Group(stages(*roots), roots)
    made = build(group, strides or dense(group), typing_of(group, [getattr(torch, dtype)]), opened)
    assert any(phase.kept for phase in made.plan.phases)
    return made


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", TYPES)
def test_results_are_right(name: str, dtype: str) -> None:
    text, shape, line = FORMULAS[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(getattr(torch, dtype))
    found, wanted = kernel(text, shape, dtype)(x)[0], line(x.double())
    assert (found.double() - wanted).abs().max() / wanted.abs().max() <= TYPES[dtype]


def test_of_every_other_element_and_what_is_no_number() -> None:
    text, _, line = FORMULAS["mish"]
    x = torch.randn(4000)[::2]
    x[3], x[700], x[-1] = torch.nan, torch.inf, -90.0
    (found,) = kernel(text, (2000,), strides=((2,),))(x)
    torch.testing.assert_close(found, line(x), rtol=2e-6, atol=1e-30, equal_nan=True)


def test_one_code_serves_other_sizes() -> None:
    text, _, line = FORMULAS["mish"]
    sources = set()
    for size in (700, 5003, 100_000):
        made = kernel(text, (size,), opened=True)
        sources.add(made.source)
        x = torch.randn(size)
        torch.testing.assert_close(made(x)[0], line(x), rtol=2e-6, atol=1e-8)
    assert len(sources) == 1


def test_several_threads_share_the_blocks() -> None:
    text, _, line = FORMULAS["mish"]
    made, x = kernel(text, (100_000,)), torch.randn(100_000)
    assert made.several
    assert made.plan.pieces == 196
    torch.testing.assert_close(made(x)[0], line(x), rtol=2e-6, atol=1e-8)
