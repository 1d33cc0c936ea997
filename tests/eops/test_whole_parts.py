"""Whole numbers, and angles of iterators, beside floating-point numbers that do not hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.back_ends.cpu_kernels import CPU_KERNELS
from einderive.eops.back_ends.task import Task
from einderive.eops.torch_views.stage import lower
from einderive.eops.whole_parts import may_differ, part_type
from einderive.frontend.accuracy.written import written
from einderive.ta.ir.node import Source
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import sources
from einderive.ta.notation.parse import parse
from tests.eops.cpu_kernels.test_types import buffers

N = 10_000
I = np.arange(N)  # noqa: E741
TIMES = 1_700_000_000 + (I * 7919) % 1000
TYPES = {"x": "float32", "t": "int64", "s": "int8", "h": "float16"}
CASES: dict[str, Any] = {
    "Y[i] = x[i]*(i*i % 1009)": I * I % 1009,
    "Y[i] = x[i]*(i*i*i//100003)": I**3 // 100003,
    "Y[i] = x[i]*(t[i] % 97)": TIMES % 97,
    "Y[i] = 0.5*(t[i] - t[0])": 0.5 * (TIMES - TIMES[0]),
    "Y[i] = x[i]*maximum(t[i] - 1700000400, 0)": np.maximum(TIMES - 1700000400, 0),
    "Y[i] = x[i]*where(t[i] % 2 == 0, t[i] - t[0], 0)": np.where(
        TIMES % 2 == 0, TIMES - TIMES[0], 0
    ),
    "Y[i] = h[i]*((t[i] - t[0])//7)": (TIMES - TIMES[0]) // 7,
    "Y[i] = x[i]*cos(2*pi*i*i/10007)": np.cos(2 * np.pi * I * I / 10007),
    "Y[i] = x[i]*sin(i*i + 0.5)": np.sin(I * I + 0.5),
}


def given() -> dict[str, torch.Tensor]:
    return {
        "x": torch.ones(N),
        "t": torch.from_numpy(TIMES),
        "s": torch.ones(N, dtype=torch.int8),
        "h": torch.ones(N, dtype=torch.float16),
    }


def scope_of(text: str) -> Any:
    names = [name for name in TYPES if f"{name}[" in text]
    shapes = dict.fromkeys(names, (N,))
    ranges = {} if names else {"i": (0, N)}
    (root,) = parse(text, shapes, {name: TYPES[name] for name in names}, ranges).roots()
    return root


@pytest.mark.parametrize("text", CASES)
def test_as_exact_as_operation_by_operation(text: str) -> None:
    """In loops, by torch's operations, as written, and by `evaluate`."""
    scope, tensors = scope_of(text), given()
    read = buffers(scope, tensors)
    loops = CPU_KERNELS.lower(Task(scope, "cpu", compiled=True))
    assert loops is not None
    inputs = {source: tensors[source.name] for source in sources(scope.body) if source is not INDEX}
    results = [loops(read), lower(scope)(read), *written([scope])(inputs)]
    results.append(ed.evaluate(text, **{source.name: tensors[source.name] for source in inputs}))
    unit = torch.finfo(results[0].dtype).eps
    for found in results:
        wanted = torch.from_numpy(np.asarray(CASES[text])).to(torch.float64)
        torch.testing.assert_close(found.double(), wanted, rtol=unit, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "compute", "own"),
    [
        ("Y[i] = i*i % 1009", "float32", "int64"),
        ("Y[i] = i*i % 1009", "float64", "float64"),  # which holds 10^8
        ("Y[i] = i % 1009", "float32", "float32"),  # which holds 10^4
        ("Y[i] = t[i] - t[0]", "float32", "int64"),
        ("Y[i] = t[i]*t[i]", "float32", "float32"),  # off by roundings alone
        ("Y[i] = maximum(t[i], 0)", "float32", "float32"),
        ("Y[i] = s[i] - s[0]", "float32", "float32"),  # int8
        ("Y[i] = (t[i] - t[0])^3", "float64", "float64"),  # its base alone, as a cube may overflow
        ("Y[i] = t[i] - x[i]", "float32", "float32"),
        ("Y[i] = sin(i*i)", "float32", "float64"),
        ("Y[i] = sin(i*i)", "float64", "float64"),
        ("Y[i] = sin(0.001*i)", "float32", "float32"),  # ten radians
        ("Y[i] = sin(t[i])", "float32", "float32"),  # what is given may be rounded
        ("Y[i] = exp(-i)", "float32", "float32"),
        ("Y[i] = x[i] < t[i]", "float32", "float32"),
        ("Y[i] = where(x[i] < 1, t[i], 5) - 7", "float32", "int64"),  # chosen by floats
        ("Y[i] = (x[i] < 1) - s[i]", "float32", "float32"),
        ("Y[i] = t[i]^999 - t[0]", "float32", "int64"),
    ],
)
def test_the_type_of_a_part(text: str, compute: str, own: str) -> None:
    scope = scope_of(text)
    types: Mapping[Source, str] = {
        source: "int64" if source is INDEX else source.dtype  # type: ignore[union-attr]
        for source in sources(scope.body)
    }
    assert part_type(scope.body, scope.domain, types, compute) == own
    if own != compute:
        assert may_differ(scope.body, scope.domain)


@pytest.mark.compiled
def test_compiled_functions_are_exact() -> None:
    text = "Y[i] = x[i]*(i*i % 1009)"
    x = torch.rand(N)
    function = ed.compile(text, x=x, seconds=0.01, budget=ed.Budget(states=50))
    torch.testing.assert_close(function(x), x * torch.from_numpy(CASES[text]), rtol=1e-6, atol=0)
