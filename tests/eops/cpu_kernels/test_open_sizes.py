"""Kernels whose sizes are arguments: what was compiled for one size runs for others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.cpu_kernels import build as building
from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import plan
from einderive.eops.loops.drafts.group import Group
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled

LAPLACIAN = (
    "Y[i,j] = X[i-1,j] + X[i+1,j] + X[i,j-1] + X[i,j+1] - 4*X[i,j] where i in 0:{n}, j in 0:{m}"
)
LAYER_NORM = (
    "M[i] = mean[k](X[i,k]); V[i] = mean[k]((X[i,k]-M[i])^2); "
    "Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i] + 1e-5)*G[k] + X[i,k]"
)
TEXTS = {
    "elementwise": "Y[i,j] = exp(X[i,j]) + G[j]*0.3",
    "Laplacian": LAPLACIAN,
    "softmax": "Y[i,j] = softmax[j](X[i,j])",
    "layer norm": LAYER_NORM,
    "columns": "Y[j] = sum[i](X[i,j]^2)",
    "all": "S = sum[i,j](X[i,j]); out Y[i,j] = X[i,j] - S",
    "turned": "Y[j,i] = X[i,j]*2",
    "last entries": "Y[i,k] = X[i,{m}-1-k] where k in 0:{m}",
    "gather": "Y[i,j] = X[I[j],j]*G[I[i]]",
    "counts": "Y[i] = sum[j](where(X[i,j] > G[j], 1, 0))",
    "first of the greatest": "Y[i] = argmax[j](X[i,j])",
}
SIZES = ((40, 40), (40, 50), (37, 61), (61, 37), (90, 70))
"""The first two are equal by chance."""
ONE_ROW = ("elementwise", "softmax", "layer norm", "counts", "first of the greatest")
"""These are planned alike even for one row."""


def kernel(text: str, sizes: Mapping[str, int]) -> tuple[Kernel, Group]:
    """The open kernel of all stages, and its group."""
    n, m = sizes["n"], sizes["m"]
    known = {"X": (n, m), "G": (m,), "I": (m,)}
    shapes = {name: shape for name, shape in known.items() if f"{name}[" in text}
    types = {name: "int32" if name == "I" else "float64" for name in shapes}
    roots = parse(text.format(**sizes), shapes, types).roots()
    group = Group(stages(*roots), roots)
    read = [torch.empty(s.shape, dtype=getattr(torch, types[s.label])) for s in group.operands]
    typing = typing_of(group, [tensor.dtype for tensor in read])
    assert typing is not None
    strides = tuple(tensor.stride() for tensor in read)
    return build(group, strides, typing, open_sizes=True), group


def check(text: str, n: int, m: int) -> Kernel:
    """The kernel, after its results were compared with the exact interpreter's."""
    made, group = kernel(text, {"n": n, "m": m})
    generator = np.random.default_rng(n)
    inputs: dict[str, Any] = {
        "X": generator.uniform(0.5, 1.5, (n, m)),
        "G": generator.uniform(0.5, 1.5, m),
        "I": generator.integers(-1, n + 2, m).astype(np.int32),
    }
    read = [torch.tensor(inputs[source.label]) for source in group.operands]
    for out, found in zip(group.outputs, made(*read), strict=True):
        expected = evaluate(out, inputs, RealField())
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-11, atol=1e-11)
    return made


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("compiled again")


@sampled(4)
@pytest.mark.parametrize("name", TEXTS)
def test_one_code_for_several_sizes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINDERIVE_CACHE", "off")
    for n, m in (*SIZES, (1, 50)) if name in ONE_ROW else SIZES:
        made = check(TEXTS[name], n, m)
        written = {int(number) for number in re.findall(r"\b\d+\b", made.source)}
        assert not written & {n, m} - {1}
        monkeypatch.setattr(building, "made_of", refuse)


def test_another_code_where_numbers_leave_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the first two sizes, every sum of places is less than 2^31."""
    monkeypatch.setenv("EINDERIVE_CACHE", "off")
    text = "Y[i] = sum[j](where(X[i,j] > 1, 50000*j, 0))"
    narrow, same, wide = (check(text, 40, m) for m in (180, 190, 310))
    assert narrow.code is same.code
    assert "int32(t0)" in narrow.source
    assert "int32(t0)" not in wide.source


@pytest.mark.compiled
def test_formulas_that_name_their_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compile` makes loops for its size, and others for all sizes: a call compiles nothing."""
    monkeypatch.setenv("EINDERIVE_CACHE", "off")
    made: list[str] = []
    compiling = building.made_of

    def noted(source: str, *rest: Any) -> Any:
        made.append(source)
        return compiling(source, *rest)

    monkeypatch.setattr(building, "made_of", noted)
    text = "Y[i,j] = exp(A[i,j])*B[j] + A[i,j]/(1 + B[j]^2)"
    found = ed.compile(text, A=("n", 40), B=(40,), n=3000)
    assert "compiled loops" in str(found)
    assert any("3000" in source for source in made)
    assert any("3000" not in source for source in made)
    monkeypatch.setattr(building, "made_of", refuse)
    for n in (3000, 2999, 1, 0):
        a, b = torch.randn(n, 40), torch.randn(40)
        torch.testing.assert_close(found(a, b), a.exp() * b + a / (1 + b * b))


def test_a_window_of_rows_has_its_sizes_in_the_text() -> None:
    """Only a window computes a maximum, and the sum of its neighbours, in one kernel."""
    text = "T[i] = max[k](A[i+k]) where i in 0:30, k in 0:3; Y[i] = T[i] + T[i+1] where i in 0:29"
    (root,) = parse(text, {"A": (32,)}).roots()
    group = Group(tuple(stages(root)), (root,))
    a = torch.arange(32.0).sin()
    typing = typing_of(group, [a.dtype])
    assert typing is not None
    assert plan(group, (a.stride(),), typing, True) is None
    kernel = build(group, (a.stride(),), typing, True)
    largest = a.unfold(0, 3, 1).amax(1)
    torch.testing.assert_close(kernel(a)[0], largest[:-1] + largest[1:])
