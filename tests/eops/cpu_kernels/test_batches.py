"""Compiled rows in batches, beside torch in float64."""

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
FORMULAS: dict[str, tuple[str, Line]] = {
    "log-sum-exp": ("Y[i] = logsumexp[k](X[i,k])", lambda x: torch.logsumexp(x, 1)),
    "softmax": ("Y[i,j] = softmax[j](X[i,j])", lambda x: torch.softmax(x, 1)),
    "norm": ("Y[i] = sqrt(sum[k](X[i,k]^2))", lambda x: torch.linalg.vector_norm(x, dim=1)),
    "layer norm": (
        "M[i] = mean[k](X[i,k]); V[i] = mean[k]((X[i,k]-M[i])^2);"
        "Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+0.01)",
        lambda x: torch.nn.functional.layer_norm(x, (x.shape[1],), eps=0.01),
    ),
    "argmax": ("Y[i] = argmax[k](X[i,k])", lambda x: x.argmax(1)),
    "two functions of one total": (
        "S[i] = sum[k](X[i,k]^2); Y[i,k] = X[i,k]*exp(-sqrt(S[i]/100)) + log(S[i])",
        lambda x: (
            x * torch.exp(-torch.sqrt((x * x).sum(1, True) / 100)) + (x * x).sum(1, True).log()
        ),
    ),
}
TYPES = {"float32": 2e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 2e-2}


def kernel(
    text: str, shape: tuple[int, ...], dtype: str, strides: Strides | None = None, *, opened: bool
) -> Kernel:
    roots = parse(text, {"X": shape}, dtype).roots()
    group = Group(stages(*roots), roots)
    made = build(group, strides or dense(group), typing_of(group, [getattr(torch, dtype)]), opened)
    assert made.plan.row is not None
    return made


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", TYPES)
def test_results_are_right(name: str, dtype: str) -> None:
    """Of 151 rows, so that the last batch is not full, with as many elements as vectors have, and
    with other numbers of them."""
    text, line = FORMULAS[name]
    for columns in (16, 37, 128) if dtype != "float64" else (37,):
        x = torch.randn(151, columns, generator=torch.Generator().manual_seed(columns))
        x = x.to(getattr(torch, dtype))
        (found,) = kernel(text, (151, columns), dtype, opened=False)(x)
        wanted = line(x.double())
        off = (found.double() - wanted).abs().max() / wanted.abs().max()
        assert off <= TYPES[dtype], columns


@pytest.mark.parametrize("name", ["log-sum-exp", "softmax"])
def test_rows_apart_in_memory_and_odd_numbers(name: str) -> None:
    text, line = FORMULAS[name]
    x = torch.randn(90, 64)[:, :40]
    x[3, 5], x[4, 6], x[5] = torch.nan, torch.inf, -torch.inf
    (found,) = kernel(text, (90, 40), "float32", ((64, 1),), opened=False)(x)
    wanted = line(x)
    torch.testing.assert_close(found, wanted, rtol=2e-6, atol=1e-7, equal_nan=True)


def test_one_code_serves_other_numbers_of_rows_and_columns() -> None:
    text, line = FORMULAS["softmax"]
    sources = set()
    for shape in ((151, 40), (400, 100), (333, 77)):
        made = kernel(text, shape, "float32", opened=True)
        sources.add(made.source)
        x = torch.randn(*shape)
        torch.testing.assert_close(made(x)[0], line(x), rtol=2e-6, atol=1e-8)
    assert len(sources) == 1
