"""Numbers that an element type cannot hold: an infinity, in every place where a formula has one."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower_all
from einderive.eops.torch_views.strided import fill_value
from einderive.eops.torch_views.types import real_scalar
from einderive.eops.triton_kernels.emit_access import literal
from tests.amount import sampled

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
LARGE = Fraction(10) ** 400
FORMULAS = [
    ("Y[i] = A[i] + 1e400", [inf, inf, inf]),
    ("Y[i] = A[i]*1e400", [inf, inf, inf]),
    ("Y[i] = A[i] - 1e400*A[i]^2", [-inf, -inf, -inf]),
    ("Y[i] = A{fill=1e400}[i-1] + A[i]", [inf, 2, 2]),
    ("Y[i] = A{fill=-1e400}[i//2 + 2] + A[i]", [2, 2, -inf]),
    ("Y[i] = where(i >= 1, A[i], -1e400)", [-inf, 1, 1]),
    ("Y[i] = minimum(A[i], 1e400)", [1, 1, 1]),
    ("Y[i] = sum[k](A[i]*A[k])*1e400", [inf, inf, inf]),
    ("Y[i] = sum[k](exp(A[i] - A[k]))*1e400", [inf, inf, inf]),
]


@sampled(2)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16", "int64"])
@pytest.mark.parametrize(("text", "wanted"), FORMULAS)
def test_a_constant_beyond_float64_is_an_infinity(
    text: str, wanted: list[float], dtype: str
) -> None:
    budget = ed.Budget(states=3)
    run = ed.compile(text, A=(3,), dtypes=dtype, target="cpu", budget=budget, seconds=0.001)
    assert run(torch.ones(3, dtype=getattr(torch, dtype))).tolist() == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Y[i] = B[i] + 1e39*A[i]", [inf, inf, inf]),
        ("Y[i] = B[i] - 3.4028235e38*A[i]", [-torch.finfo(torch.float32).max] * 3),
        ("Y[i] = A{fill=-1e39}[i-1] + B[i]", [-inf, 2, 2]),
    ],
)
def test_a_constant_beyond_float32(text: str, wanted: list[float]) -> None:
    shapes: dict[str, Any] = {"A": (3,), "B": (3,)}
    program = ed.parse(text, **shapes)
    (root,) = program.roots()
    given = {tensor: torch.ones(3) for tensor in program.inputs}
    assert lower_all(root)(given).tolist() == wanted


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_scalar_is_rounded_as_torch_rounds_it(dtype: torch.dtype) -> None:
    greatest = Fraction(torch.finfo(dtype).max)
    half = greatest * Fraction(torch.finfo(dtype).eps) / 8
    for value, wanted in (
        (greatest, float(greatest)),
        (greatest + half, float(greatest)),
        (greatest * 2, inf),
        (LARGE, inf),
        (-LARGE, -inf),
        (1 / LARGE, 0.0),
        (inf, inf),
        (Fraction(1, 3), 1 / 3),
    ):
        assert real_scalar(value, dtype) == fill_value(value, dtype) == wanted
        torch.empty(1, dtype=dtype).fill_(fill_value(value, dtype))


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (LARGE, "float64", 'float("inf")'),
        (-LARGE, "float32", 'float("-inf")'),
        (Fraction(10) ** 39, "float32", 'float("inf")'),
        (Fraction(10) ** 39, "float64", "1e+39"),
        (Fraction("3.4028235e38"), "float32", repr(torch.finfo(torch.float32).max)),
        (LARGE, "int64", str(2**63 - 1)),
    ],
)
def test_a_literal_of_a_kernel_is_one_of_its_type(value: Fraction, dtype: str, wanted: str) -> None:
    assert literal(value, dtype) == wanted
