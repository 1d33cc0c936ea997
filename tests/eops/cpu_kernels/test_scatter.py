"""Scatters as loops against the exact interpreter; torch's own operations must not run."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from einderive.eops.back_ends import lowered
from einderive.eops.back_ends.cpu_kernels import CPU_KERNELS
from einderive.eops.back_ends.task import Task
from einderive.eops.cpu_kernels import scatter
from einderive.eops.torch_views.scatter import ScatterStage
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.notation.parse import parse
from tests.amount import sampled

SHAPES = {
    "I": (40,),
    "J": (40,),
    "K": (5, 40),
    "x": (40,),
    "E": (40, 3),
    "B": (3, 40),
    "P": (40, 2),
}
WHOLE = {"I": "int64", "J": "int32", "K": "int8"}
TEXTS = {
    "counts": "Y[I[n]] += 1 where n in 0:40",
    "sums": "Y[I[n]] += x[n]",
    "rows": "Y[I[n],d] += E[n,d] where n in 0:40",
    "pairs": "Y[v,d] = sum[n](where(I[n] == v, P[n,d], 0)) where v in 0:4",
    "turned": "Y[d,v] = sum[n](where(J[n] == v, E[n,d]*B[d,n], 0)) where v in -2:4",
    "two places": "Y[I[n],J[n]] += x[n] where n in 0:40",
    "apart": "Y[v,w] = sum[n,m](where(I[n] == v and J[m] == w, E[n,m], 0)) "
    "where v in 0:4, w in 0:3, m in 0:3, n in 0:40",
    "batch": "Y[b,v] = sum[n](where(K[b,n] == v, x[n], 0)) where v in 0:4",
    "parts of a view": "Y[v] = sum[n](where(K[2*n,3] == v, x[n], 0)) where v in 0:4, n in 0:2",
    "greatest": "Y[v,d] = max[n](where(I[n] == v, E[n,d], -inf)) where v in 0:4",
    "least": "Y[v] = min[n](where(I[n] == v, x[n], inf)) where v in 0:4",
    "products": "Y[v] = prod[n](where(I[n] == v, x[n], 1)) where v in 0:4",
    "whole": "Y[v] = sum[n](where(I[n] == v, J[n], 0)) where v in 0:4",
    "of positions": "Y[v] = sum[i,j](where(i+j == v, x[i]*x[j], 0)) where v in 0:9",
}
RESULTS = {"counts": (4,), "sums": (4,), "rows": (4, 3), "two places": (4, 3)}


def operand(tensor: Tensor, seed: int) -> NDArray[Any]:
    """Places go beyond both ends; some numbers are NaN, where the sum has to be NaN as well."""
    random = np.random.default_rng([seed, len(tensor.name), ord(tensor.name[0])])
    if tensor.name in WHOLE:
        return random.integers(-1, 6, tensor.shape).astype(WHOLE[tensor.name])
    found = random.standard_normal(tensor.shape)
    found.flat[random.integers(found.size)] = np.nan if seed == 2 else 1.0
    return found


@sampled(4)
@pytest.mark.parametrize("name", TEXTS)
def test_terms_go_to_their_places(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXTS[name]
    shapes = {n: s for n, s in SHAPES.items() if re.search(rf"\b{n}\[", text)}
    types = {n: WHOLE.get(n, "float64") for n in shapes}
    if name in RESULTS:
        shapes["Y"] = RESULTS[name]
    (scope,) = parse(text, shapes, types).roots()
    monkeypatch.setattr(ScatterStage, "_added", None)
    for seed in range(3):
        check(scope, seed)


def check(scope: Scope, seed: int) -> None:
    run, word = lowered(Task(scope, "cpu", compiled=True))
    assert word == CPU_KERNELS.word
    given = {tensor: operand(tensor, seed) for tensor in input_tensors(scope)}
    found = run({source: torch.from_numpy(array) for source, array in given.items()})
    wanted = evaluate(scope, {s.name: array for s, array in given.items()}, RealField())
    np.testing.assert_allclose(found.numpy().astype(float), wanted.astype(float), rtol=1e-13)


def test_few_totals_are_summed_in_float64() -> None:
    n = 1 << 18
    (scope,) = parse("Y[I[n]] += x[n]", {"I": (n,), "x": (n,), "Y": (2,)}, {"I": "int64"}).roots()
    run, _ = lowered(Task(scope, "cpu", compiled=True))
    given = {"I": torch.arange(n) % 2, "x": torch.full((n,), 0.1)}
    found = run({tensor: given[tensor.name] for tensor in input_tensors(scope)})
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), float(given["x"][0]) * n / 2, rtol=1e-7)


def test_places_that_are_no_integers_are_left_to_torch() -> None:
    (scope,) = parse("Y[I[n]] += x[n]", {"I": (3,), "x": (3,), "Y": (2,)}, {"I": "int64"}).roots()
    run, _ = lowered(Task(scope, "cpu", compiled=True))
    given = {"I": torch.tensor([0.5, 1.0, 1.0]), "x": torch.tensor([1.0, 2.0, 3.0])}
    found = run({tensor: given[tensor.name] for tensor in input_tensors(scope)})
    np.testing.assert_array_equal(found.numpy(), [0, 5])


@pytest.mark.parametrize(("step", "even"), [(1, True), (2, False)])
def test_places_that_lie_side_by_side_are_read_so(
    step: int, even: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scope,) = parse("Y[I[n]] += x[n]", {"I": (9,), "x": (9,), "Y": (4,)}, {"I": "int64"}).roots()
    run, _ = lowered(Task(scope, "cpu", compiled=True))
    asked, kernel = list[scatter.Form](), scatter._run
    monkeypatch.setattr(scatter, "_run", lambda form: asked.append(form) or kernel(form))
    given = {"I": (torch.arange(9 * step) % 4)[::step], "x": torch.ones(9)}
    run({tensor: given[tensor.name] for tensor in input_tensors(scope)})
    assert [form.even for form in asked] == [even]


def test_terms_of_other_types_are_left_to_torch() -> None:
    (scope,) = parse("Y[I[n]] += x[n]", {"I": (3,), "x": (3,), "Y": (2,)}, {"I": "int64"}).roots()
    run, word = lowered(Task(scope, "cpu", compiled=True))
    assert word == CPU_KERNELS.word
    given = {"I": torch.tensor([0, 1, 1]), "x": torch.tensor([1j, 2.0, 3j])}
    found = run({tensor: given[tensor.name] for tensor in input_tensors(scope)})
    torch.testing.assert_close(found, torch.tensor([1j, 2 + 3j]))


@pytest.mark.parametrize("text", ["Y[I[n]] += x[n]", "Y[I[n]] += 2*x[n]"])
def test_lazily_negated_terms(text: str) -> None:
    (scope,) = parse(text, {"I": (9,), "x": (9,), "Y": (4,)}, {"I": "int64"}).roots()
    run, word = lowered(Task(scope, "cpu", compiled=True))
    assert word == CPU_KERNELS.word
    x, places = torch.randn(9, dtype=torch.complex64).conj().imag, torch.arange(9) % 4
    assert x.is_neg()
    given = {"I": places, "x": x}
    found = run({tensor: given[tensor.name] for tensor in input_tensors(scope)})
    terms = (2 if "2" in text else 1) * x.resolve_neg()
    torch.testing.assert_close(found, torch.zeros(4).index_add(0, places, terms))
