"""The formula as written: its values, its order, its types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.inputs.drawn import random_inputs
from einderive.frontend.accuracy.written import as_written, has_products, written
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate

MORE: list[tuple[str, dict[str, Any]]] = [
    ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (5, 7), "B": (4, 7)}),
    ("Y[i] = 3*A[i,k]*B[k]/(2+C[i]^2) - 1", {"A": (5, 7), "B": (7,), "C": (5,)}),
    ("M[i] = A[i,k]/7; Y[i] = sum[k]((A[i,k]-M[i])^2)/7", {"A": (5, 7)}),
    ("Y[h] = A[h+r-1]*K[r] where h in 0:9", {"A": (9,), "K": (3,)}),
    ("Y[i] = max[k](A[i,k] - exp(B[k]))", {"A": (5, 7), "B": (7,)}),
    ("Y[i] = prod[k](A[i,k])", {"A": (5, 7)}),
    ("Y = A[i]*B[j]*C[k]*X[i,j,k]", {"A": (3,), "B": (4,), "C": (5,), "X": (3, 4, 5)}),
    ("Y[i,j] = where(i >= j, A[i//2,j%3], -B[i]) where j in 0:6", {"A": (3, 3), "B": (6,)}),
    ("Y[i] = sum[k](A[i]) where k in 0:6", {"A": (5,)}),
    ("Y[i] = 1/A[i]^3 - sum[k](B[k]/A[i])", {"A": (5,), "B": (7,)}),
    ("Y[i,j] = sum[k](where(k > i and j < 3, 2*B[k,j]*A[k,i], 0))", {"A": (6, 5), "B": (6, 4)}),
]


@pytest.mark.parametrize(("text", "shapes"), MORE, ids=[text for text, _ in MORE])
def test_it_is_the_formula(text: str, shapes: dict[str, Any]) -> None:
    program = ed.parse(text, dtypes="float64", **shapes)
    given = random_inputs(program.inputs, "cpu")
    values = {tensor.name: value.numpy() for tensor, value in given.items()}
    for run in (as_written(program), written(program.roots(), (), "einsum")):
        for root, output in zip(program.roots(), run(given), strict=True):
            np.testing.assert_allclose(output.numpy(), evaluate(root, values, RealField()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_each_operation_is_rounded_and_a_sum_is_torchs(dtype: torch.dtype) -> None:
    program = ed.parse(
        "Y[i,j] = (A[i,k]-B[j,k])^2*W[k]", dtypes=dtype, A=(9, 65), B=(8, 65), W=(65,)
    )
    a, b, w = (1000 + torch.randn(t.shape) for t in program.inputs)
    a, b, w = (value.to(dtype) for value in (a, b, w))
    d = a[:, None] - b
    wanted = [torch.sum((d * d) * w, -1), torch.sum(w * (d * d), -1)]
    (found,) = as_written(program, output_types(program))(
        dict(zip(program.inputs, (a, b, w), strict=True))
    )
    assert found.dtype == dtype
    assert any(torch.equal(found, y) for y in wanted)


def test_terms_are_added_from_left_to_right() -> None:
    program = ed.parse("Y[i] = A[i]-B[i]+C[i]", A=(1,), B=(1,), C=(1,))
    given = dict(zip(program.inputs, map(torch.tensor, ([1e8], [1e8], [1.0])), strict=True))
    assert as_written(program)(given)[0].tolist() == [1.0]


def test_integers_stay_as_exact_as_they_are() -> None:
    program = ed.parse("Y[i] = A[i,k]*B[k] - 7", dtypes="int8", A=(2, 3), B=(3,))
    given = {t: torch.full(t.shape, 100, dtype=torch.int8) for t in program.inputs}
    (found,) = as_written(program, output_types(program))(given)
    assert found.tolist() == [29993, 29993]


def test_blocks_change_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ed.parse("Y[i,j] = (A[i,k]-B[j,k])^2; Z = max[i,j](A[i,j])", A=(9, 16), B=(8, 16))
    given = random_inputs(program.inputs, "cpu")
    whole = as_written(program)(given)
    monkeypatch.setattr("einderive.frontend.accuracy.written.BLOCK", 40)
    for one, other in zip(whole, as_written(program)(given), strict=True):
        assert torch.equal(one, other)
    monkeypatch.setattr("einderive.frontend.accuracy.written.LARGEST", 7)
    for one, other in zip(whole, as_written(program)(given), strict=True):
        torch.testing.assert_close(one, other)


def test_long_products_are_accumulated_as_einsum_does(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ed.parse("Y[i,j] = A[i,k]*B[k,j]", A=(40, 300), B=(300, 50))
    given = random_inputs(program.inputs, "cpu")
    a, b = given.values()
    assert has_products(program.roots())
    assert torch.equal(as_written(program)(given)[0], (a[:, :, None] * b).transpose(1, 2).sum(-1))
    monkeypatch.setattr("einderive.frontend.accuracy.written.MOST_PRODUCTS", 1000)
    assert torch.equal(as_written(program)(given)[0], torch.einsum("ik,kj->ij", a, b))


def test_a_masked_product_is_accumulated_as_the_product_of_a_masked_factor() -> None:
    """torch multiplies matrices there, whose order of terms is not that of a sum."""
    program = ed.parse(
        "Y[i,j] = sum[k](where(k > i, 3*A[k,i]*B[k,j], 0))", A=(300, 40), B=(300, 50)
    )
    given = random_inputs(program.inputs, "cpu")
    a, b = given.values()
    masked = a * (torch.arange(300)[:, None] > torch.arange(40))
    assert has_products(program.roots())
    (found,) = written(program.roots(), (), "einsum")(given)
    assert torch.equal(found, 3 * torch.einsum("ki,kj->ij", masked, b))
    assert not has_products(ed.parse("Y[i] = sum[k](where(k > i, A[k,i], 0))", A=(30, 4)).roots())


def test_a_scatter_adds_its_terms_one_by_one_as_torch_does() -> None:
    generator = torch.Generator().manual_seed(3)
    places = torch.randint(0, 5, (4000,), generator=generator)
    terms = torch.randn(4000, 3, generator=generator)
    program = ed.parse("Y[I[n],d] += A[n,d]", I=places, A=terms, Y=(5, 3))
    given = {tensor: {"I": places, "A": terms}[tensor.name] for tensor in program.inputs}
    (found,) = as_written(program)(given)
    assert torch.equal(found, torch.zeros(5, 3).index_add(0, places, terms))
    exact = torch.zeros(5, 3, dtype=torch.float64).index_add(0, places, terms.double())
    assert not torch.equal(found, exact.float())
