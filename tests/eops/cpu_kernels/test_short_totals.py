"""Sums of float32, of which some terms are added in float32 and the rest in float64."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import build
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.sizes import SIZES
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse

TEXTS = (
    "Y[i] = sum[k](X[i,k]^2)",
    "Y[k] = sum[i](X[i,k]^2)",
    "Y[i] = sum[k](X[i,k]*X[i,k-1])",
    "Y[i] = sum[k](2*X[i,k//3]) where k in 0:{0}",
    "P[i] = sum[k](2*X[i,k]); Q[i] = max[k](X[i,k]); R[i] = sum[k](sin(X[i,k]^5))",
)
TERMS = (SIZES.terms, SIZES.terms + 1, 3 * SIZES.terms - 1)


@pytest.mark.parametrize(("text", "terms"), [*zip(TEXTS, (*TERMS, *TERMS), strict=False)])
def test_long_sums_have_all_digits(text: str, terms: int) -> None:
    shape = (terms, 3) if text.startswith("Y[k]") else (3, terms)
    data = torch.rand(shape, generator=torch.Generator().manual_seed(0)) + 1000
    roots = parse(text.format(terms), {"X": shape}, "float32").roots()
    group = Group(stages(*roots), roots)
    kernel = build(group, dense(group), alike(group, "float32"))
    assert "short" in kernel.source
    for found, root in zip(kernel(data), roots, strict=True):
        exact = np.asarray(evaluate(root, {"X": data.double().numpy()}, RealField()), dtype=float)
        usual = 2e-7 if "sin" not in text else 1.0  # of the angles in float32
        np.testing.assert_allclose(found.numpy(), exact, rtol=usual, atol=usual * 100)


def test_numbers_that_float32_counts_no_further_are_counted() -> None:
    """2^24 ones and more: a total in float32 would stay at 2^24."""
    rows = parse("Y[i] = sum[k](X[i,k]^2)", {"X": (1, (1 << 24) + 3)}, "float32").roots()
    group = Group(stages(*rows), rows)
    kernel = build(group, dense(group), alike(group, "float32"))
    assert "short" in kernel.source
    (found,) = kernel(torch.ones(1, (1 << 24) + 3))
    assert found.item() == (1 << 24) + 4  # the nearest number of float32


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Y[i] = sum[k](X[i,k])", 0),
        ("Y[i] = sum[k](X[i,k]*X[i,k])", 1),
        ("P[i] = sum[k](X[i,k]); Q[i] = sum[k](X[i,k]^2)", 1),
        ("P[i] = sum[k](X[i,k]); Q[i] = sum[k](X[i,k]^2); R[i] = sum[k](X[i,k]^3)", 3),
        ("M[i] = mean[k](X[i,k]*X[i,k]); Y[i,k] = X[i,k]*X[i,k] - M[i]", 0),
        ("M[i] = mean[k](exp(X[i,k])); Y[i,k] = X[i,k]*rsqrt(M[i] + 1)", 1),
        ("M[i] = mean[k](X[i,k]); Y[i] = mean[k]((X[i,k]-M[i])^2)", 1),
    ],
)
def test_what_shifts_the_data_has_all_digits(text: str, short: int) -> None:
    roots = parse(text, {"X": (3, 1000)}, "float32").roots()
    group = Group(stages(*roots), roots)
    source = build(group, dense(group), alike(group, "float32")).source
    assert len({word for word in source.split() if word.startswith("short")}) == short


@pytest.mark.parametrize(
    ("text", "types", "short"),
    [
        ("Y[i] = sum[k](X[i,k])", {"X": "bfloat16"}, 1),
        ("Y[i] = sum[k](X[i,k])*W[i]", {"X": "float16", "W": "float32"}, 1),
        ("M[i] = mean[k](X[i,k]); Y[i,k] = X[i,k] - M[i]", {"X": "float16"}, 1),
        (
            "M[i] = mean[k](X[i,k]); Y[i,k] = (X[i,k] - M[i])*W[i]",
            {"X": "float16", "W": "float32"},
            0,
        ),
        ("M[i] = mean[k](2*X[i,k]); Y[i,k] = X[i,k] - M[i]", {"X": "float16"}, 1),
        ("Y[i] = sum[k](X[i,k]^2)", {"X": "float64"}, 0),
    ],
)
def test_numbers_of_half_types_are_added_in_float32_first(
    text: str, types: dict[str, str], short: int
) -> None:
    """Also where the total is taken away again, if the result has as few digits."""
    shapes = {"X": (3, 1000), "W": (3,)}
    roots = parse(text, {name: shapes[name] for name in types}, types).roots()
    group = Group(stages(*roots), roots)
    operands = [
        getattr(torch, types[source.name])
        for source in group.operands
        if isinstance(source, Tensor)
    ]
    typing = typing_of(group, operands)
    assert typing is not None
    source = build(group, dense(group), typing).source
    assert len({word for word in source.split() if word.startswith("short")}) == short


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("moved", [0.0, 100.0, 2000.0])
def test_means_of_half_types_have_all_digits(dtype: str, moved: float) -> None:
    """Of data that lie as far from 0 as the type still tells them apart."""
    n, kind = 3 * SIZES.terms + 5, getattr(torch, dtype)
    data = (torch.randn(4, n, generator=torch.Generator().manual_seed(1)) + moved).to(kind)
    roots = parse("M[i] = mean[k](X[i,k]); Y[i,k] = X[i,k] - M[i]", {"X": (4, n)}, dtype).roots()
    group = Group(stages(*roots), roots)
    typing = typing_of(group, [kind])
    assert typing is not None
    kernel = build(group, dense(group), typing)
    assert "short" in kernel.source
    (found,) = kernel(data)
    exact = data.double() - data.double().mean(1, keepdim=True)
    torch.testing.assert_close(found, exact.to(kind), rtol=torch.finfo(kind).eps, atol=1e-3)


def test_terms_that_are_picked_have_all_digits() -> None:
    """They are added one after the other: in float32, all would be rounded alike."""
    n = 4 * SIZES.terms
    types = {"X": "float32", "I": "int64"}
    text = "K[i] = X[i,I[i]]; Y = sum[i](log(max(K[i], 1e-7)))"
    program = parse(text, {"X": (n, 2), "I": (n,)}, types, outputs=["K", "Y"])
    roots = program.roots()
    group = Group(stages(*roots), roots)
    data = {"X": torch.full((n, 2), 1e-8), "I": torch.ones(n, dtype=torch.int64)}
    operands = [data[source.name] for source in group.operands if isinstance(source, Tensor)]
    typing = typing_of(group, [operand.dtype for operand in operands])
    assert typing is not None
    _, found = build(group, dense(group), typing)(*operands)
    exact = n * log(1e-7)
    assert abs(found.item() / exact - 1) < 2e-7
