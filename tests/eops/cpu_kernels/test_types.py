"""Kernels for all types of elements, against torch's operations on the same stage."""

from __future__ import annotations

from itertools import product
from math import inf, nan
from random import Random
from typing import Any

import pytest
import torch

from einderive.eops.back_ends import cpu_kernels, lowered
from einderive.eops.back_ends.task import Task
from einderive.eops.torch_views.stage import lower
from einderive.ta.ir.node import Scope
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import sources
from einderive.ta.notation.parse import parse
from tests.amount import first, sampled

TYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float16,
        torch.int8,
        torch.bool,
        torch.float32,
        torch.int64,
        torch.bfloat16,
        torch.uint8,
        torch.float64,
        torch.int32,
        torch.int16,
    )
}
TEXTS = (
    "Y[i,j] = A[i,j]*B[i,j] + 3*A[i,j]",
    "Y[i,j] = A[i,j] < B[i,j]",
    "Y[i,j] = where(A[i,j] > B[i,j], A[i,j], B[i,j-1])",
    "Y[i] = sum[j](A[i,j]*B[i,j])",
    "Y[j] = max[i](A[i,j] - B[i,j])",
    "Y[i] = min[j](where(A[i,j] == B[i,j], A[i,j], 7))",
    "Y[i,j] = exp(A[i,j]/4) + B[i,j]",
    "Y[i,j] = relu(A[i,j]) - abs(B[i,j])*sign(A[i,j]) + maximum(A[i,j], B[i,j])^3",
    "Y[i] = max[j](A[i,j] < B[i,j])",
    "Y[i,j] = where(A[i,j], 1, B[i,j])*where(isnan(A[i,j]), 2, j)",
    "Y[i,j] = (i - 2*j)*A[i,j] + where(i < B[i,j], i, -j)",
    "Y[j] = prod[i](A[i,j] + B{fill=2}[i,j+1])",
    "Y[i] = sum[j](where(B[i,j] > 0.5, j*A[i,j], 0))",
    "Y[i,j] = max[r](A[i,j+r-1]*1) where j in 0:37, r in 0:3",
)
PAIRS = list(product(TYPES, TYPES))
Random(5).shuffle(PAIRS)
CASES = [
    (text, *PAIRS[(turn * len(TEXTS) + k) % len(PAIRS)])
    for turn in range(len(PAIRS))
    for k, text in enumerate(TEXTS)
]
ROWS, COLUMNS = 5, 37


def data(dtype: torch.dtype, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    shape = (ROWS, COLUMNS)
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if not dtype.is_floating_point:
        limits = torch.iinfo(dtype)
        found = torch.randint(max(limits.min, -4), 5, shape, generator=generator).to(dtype)
        found[0, :2] = torch.tensor([limits.min, limits.max])
        return found
    found = torch.randint(-9, 10, shape, generator=generator) / 4
    found[0, :5] = torch.tensor([nan, inf, -inf, -0.0, 65504.0])
    return found.to(dtype)


def stage(text: str, **types: str) -> Scope:
    shapes = dict.fromkeys(types, (ROWS, COLUMNS))
    (root,) = parse(text, shapes, types).roots()
    return root


def check(scope: Scope, given: dict[str, torch.Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = lower(scope)(buffers(scope, given))
    monkeypatch.setattr(cpu_kernels, "lower", lambda *_, **__: refuse)
    run, word = lowered(Task(scope, "cpu", compiled=True))
    assert word == cpu_kernels.CPU_KERNELS.word
    found = run(buffers(scope, given))
    assert found.dtype == expected.dtype
    if found.dtype.is_floating_point:
        torch.testing.assert_close(found, expected, equal_nan=True)
    else:
        assert torch.equal(found, expected), (found, expected)


def buffers(scope: Scope, given: dict[str, torch.Tensor]) -> dict[Any, torch.Tensor]:
    return {source: given[source.name] for source in sources(scope.body) if source is not INDEX}


def refuse(*_: Any) -> Any:
    raise AssertionError("torch was asked")


@sampled(4)
@pytest.mark.parametrize(
    ("text", "a", "b"), first(len(TEXTS), CASES), ids=lambda part: str(part)[:40]
)
def test_as_torch_computes_them(text: str, a: str, b: str, monkeypatch: pytest.MonkeyPatch) -> None:
    types = {"A": a, **({"B": b} if "B" in text else {})}
    given = {name: data(TYPES[dtype], k) for k, (name, dtype) in enumerate(types.items())}
    check(stage(text, **types), given, monkeypatch)


def test_threads_that_work_on_one_total_exchange_whole_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that float64 does not hold."""
    (scope,) = parse("Y = sum[i](A[i])", {"A": (1 << 20,)}, "int64").roots()
    data = torch.randint(-(2**62), 2**62, (1 << 20,))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        check(scope, {"A": data}, monkeypatch)
    finally:
        torch.set_num_threads(before)
