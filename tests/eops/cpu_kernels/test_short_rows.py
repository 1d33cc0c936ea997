"""Rows of a few elements: their loops are written out, so that vectors hold a step of many rows."""

from __future__ import annotations

import ast

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.avx512.registers import has_vectors
from einderive.eops.cpu_kernels.build import Kernel, build, planned_sizes
from einderive.eops.cpu_kernels.lowering.sources import BATCH, in_masks, is_written_out
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.values import WRITTEN_OUT
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled

ROWS = 37
"""Two vectors of rows and a few more."""
TEXTS = (
    "Y[i,j] = softmax[j](X[i,j])",
    "Y[i] = logsumexp[j](X[i,j])",
    "P[i] = argmax[j](X[i,j]); Q[i] = argmin[j](-2*X[i,j])",
    "M[i] = mean[j](X[i,j]); V[i] = mean[j]((X[i,j]-M[i])^2); Y[i,j] = (X[i,j]-M[i])*rsqrt(V[i]+1)",
    "Y[i,j] = X[i,j]*rsqrt(1 + sum[k](X[i,k]^2)); out S[i] = prod[j](X[i,j])",
    "Y[i,j] = X[i,j] - mean[k](X[i,k])",
    "Y[i,j] = X[i,j] - max[k](tanh(X[i,k])) + min[k](X[i,k])",
)


def kernel_of(text: str, columns: int, dtype: str) -> Kernel:
    roots = parse(text, {"X": (ROWS, columns)}, dtypes={"X": dtype}).roots()
    group = Group(stages(*roots), roots)
    typing = typing_of(group, [getattr(torch, dtype)])
    return build(group, dense(group), typing)


@sampled(12)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("columns", [2, 3, 5, 8, 9, 10, 13, 15, 16])
@pytest.mark.parametrize("text", TEXTS)
def test_every_row(text: str, columns: int, dtype: str) -> None:
    kernel = kernel_of(text, columns, dtype)
    generator = torch.Generator().manual_seed(columns)
    x = torch.randn((ROWS, columns), generator=generator).to(getattr(torch, dtype))
    x[3, 0], x[5, 1] = np.nan, np.inf
    x[20] = x[21] = 0.5
    for out, found in zip(kernel.plan.outputs, kernel(x), strict=True):
        expected = evaluate(out.scope, {"X": x.double().numpy()}, RealField())
        digits = 1e-2 if dtype == "bfloat16" else 1e-5
        np.testing.assert_allclose(found.double().numpy(), expected, rtol=digits, atol=digits)


def test_what_is_computed_before_is_in_memory_for_longer_rows_only() -> None:
    few, many = (kernel_of(TEXTS[0], n, "float32") for n in (WRITTEN_OUT - 1, WRITTEN_OUT))
    assert not few.plan.kept
    assert many.plan.kept
    for word in ("settled", "prefetch", "room_of"):
        assert word not in few.source
        assert word in many.source


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("for i in range(0, 10): a", True),
        ("for i in range(0, 15): a", True),
        ("for i in range(0, 16): a", False),
        ("for i in range(3, 4): a", False),
        ("for i in range(low, 4): a", False),
        ("for i in range(0, 3):\n  for j in range(0, 5): a", True),
        ("for i in range(0, 3):\n  for j in range(0, 6): a", False),
        ("for i in range(0, 3):\n  for j in range(0, n): a", False),
        ("for i in range(0, 3):\n  if a:\n    for j in range(0, 2): a", False),
    ],
)
def test_which_loops_are_written_out(text: str, written: bool) -> None:
    (loop,) = ast.parse(text).body
    assert isinstance(loop, ast.For)
    assert isinstance(loop.iter, ast.Call)
    assert is_written_out(*loop.iter.args, loop.body) == written


SUM = "for j in range(0, {n}):\n  s = sum_in_any_order(s, float32(load(p, j)))\n"
ELEMENTS = "for j in range(0, {n}):\n  v = load(p, j)\n  store(o, j, float32(v - s))\n"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ((SUM + ELEMENTS).format(n=9), True),
        ((SUM + ELEMENTS).format(n=8), False),
        ((SUM + ELEMENTS).format(n=16), False),
        ((SUM + SUM + ELEMENTS).format(n=12), False),
        ((SUM + SUM + ELEMENTS).format(n=13), True),
        (SUM.format(n=12), False),
        ((SUM + ELEMENTS).format(n=12).replace("v - s", "exp_float32(v)"), False),
        ((SUM + ELEMENTS).format(n=12) + "if s:\n  for j in range(0, 9): store(o, j, s)", False),
        ("for j in range(0, 12):\n  for k in range(0, 1): store(o, j, k)", False),
        ("s = 1", False),
    ],
)
def test_which_rows_are_one_vector_with_a_mask(text: str, masked: bool) -> None:
    assert in_masks(ast.Constant(0), ast.parse(text).body) == (masked and has_vectors())


@pytest.mark.parametrize(("columns", "masked"), [(16, False), (15, True), (10, True), (1, False)])
def test_rows_of_a_batch_are_vectors_with_masks(columns: int, masked: bool) -> None:
    """The plan has found that they are better so."""
    body = ast.parse(SUM.format(n=columns)).body
    assert in_masks(ast.Name(BATCH), body) == (masked and has_vectors())
    assert not in_masks(ast.Name("rows"), body)


@pytest.mark.parametrize(
    ("text", "columns", "batches"),
    [
        (TEXTS[3], 9, False),
        *((TEXTS[3], columns, True) for columns in (10, 15)),
        (TEXTS[0], 15, False),  # functions
        ("Y[i] = std[j](X[i,j])", 14, False),
        ("Y[i] = std[j](X[i,j])", 15, True),
    ],
)
def test_which_rows_of_few_elements_are_done_in_batches(
    text: str, columns: int, batches: bool
) -> None:
    kernel = kernel_of(text, columns, "float32")
    batches &= has_vectors()
    assert (kernel.plan.row is not None) == batches
    assert ("range(row, rows)" in kernel.source) == batches


@pytest.mark.parametrize("text", [TEXTS[3], "Y[i] = std[j](X[i,j])"])
def test_processors_without_masks_have_such_rows_written_out(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("einderive.eops.cpu_kernels.build.has_vectors", lambda: False)
    assert planned_sizes().masked == WRITTEN_OUT
    roots = parse(text, {"X": (ROWS, 15)}, "float32").roots()
    group = Group(stages(*roots), roots)
    found = plan(group, dense(group), sizes=planned_sizes())
    assert found is not None
    assert found.row is None


@pytest.mark.parametrize(
    "text",
    [
        "Y[i] = var[j](X[i,j])",
        "P[i] = prod[j](X[i,j]); S[i] = sum[j](abs(X[i,j]))",
        "Y[i] = sum[j](where(X[i,j] > 0, 1, 0))",
    ],
)
def test_no_row_ends_the_process(text: str) -> None:
    """LLVM 22 does with groups of 14 reads, of which it estimates the time in two ways."""
    kernel = kernel_of(text, 14, "float32")
    x = torch.rand(ROWS, 14)
    for out, found in zip(kernel.plan.outputs, kernel(x), strict=True):
        expected = evaluate(out.scope, {"X": x.double().numpy()}, RealField())
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)
