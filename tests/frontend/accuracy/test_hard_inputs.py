"""Each family of hard inputs is what its name says, in every floating type."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch

import einderive as ed
from einderive.frontend.accuracy.inputs.drawn import family_inputs
from einderive.frontend.accuracy.inputs.families import FAMILIES, Family
from einderive.frontend.bench.digits import DIFFERENCES
from einderive.ta.ir import expr

FLOATS = ("float64", "float32", "float16", "bfloat16")


def made(family: Family, dtype: str, **shapes: tuple[int, ...]) -> list[torch.Tensor]:
    tensors = [expr.tensor(name, shape, dtype) for name, shape in shapes.items()]
    values = family_inputs(tensors, family, "cpu").values()
    return [value.to(torch.float64) for value in values]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_hard_inputs_are_what_they_are_called(family: Family, dtype: str) -> None:
    a, b = made(family, dtype, A=(40, 40), B=(40, 40))
    info = torch.finfo(getattr(torch, dtype))
    mean = {"float16": 32, "bfloat16": 4}.get(dtype, 1000)
    half = a[:, :20].sum(1), a[:, 20:].sum(1)
    tops = [x.abs().amax(1) for x in (a, b)]
    far = [(top > top.median() * (2 if dtype == "float16" else 2**17)).nonzero() for top in tops]
    says = {
        "normal numbers": abs(float(a.mean())) < 0.2 and 0.9 < float(a.std()) < 1.1,
        "a mean of 1000 and a deviation of 1": all(
            abs(float(x.mean()) - mean) < 0.2 and 0.8 < float(x.std()) < 1.2 for x in (a, b)
        ),
        "clusters at +-1000": all(
            bool(((x.mean(1).abs() - mean).abs() < 1).all())
            and len(set(x.mean(1).sign().tolist())) == 2
            for x in (a, b)
        ),
        "one row far from the others": far[0].tolist() == [[20]] and not len(far[1]),
        "two halves at +-1000": all(
            bool(((x.mean(1) + mean)[:20].abs() < 1).all())
            and bool(((x.mean(1) - mean)[20:].abs() < 1).all())
            for x in (a, b)
        ),
        "a set against itself": bool((a == b).all()),
        "one row far from the others, in the other tensors": not len(far[0])
        and far[1].tolist() == [[20]],
        "nearly equal tensors": bool(((a - b).abs() <= 6 * info.eps * a.abs()).all())
        and bool((a != b).any()),
        "a large common offset": bool(a.mean() > 3 * a.std() > 0),
        "a large dynamic range": bool(a.abs().max() / a.abs().min() > 2**3),
        "nearly opposite neighbours": bool((a.sum(1).abs() < 0.3 * a.abs().sum(1)).all()),
        "sums that rise and fall": bool((half[0] > 20).all() and (half[1] < -20).all()),
        "large numbers": float(a.abs().max()) > (2 if dtype == "float16" else 2**20),
        "small numbers": float(a.abs().max()) < (1.5 if dtype == "float16" else 2**-18),
        "subnormal numbers": bool((a.abs() < info.tiny).any() and b.abs().max() > 1)
        and float(a.abs().max()) < 1000 * info.tiny,
        "mostly zeros": bool((a == 0).double().mean() > 0.5 and (a != 0).any()),
        "equal entries": bool(a.min() == a.max() != b.min()),
        "positive numbers": bool((a >= 0).all()),
    }
    assert all(bool(x.isfinite().all()) for x in (a, b))
    assert says[family.name]


def test_the_magnitudes_do_not_depend_on_the_formula() -> None:
    for family in FAMILIES:
        one, other = (made(family, "float32", A=(5, 4), B=s)[0] for s in ((5, 4), (3, 4)))
        assert torch.equal(one, other)


def test_a_set_against_itself_takes_rows_where_only_these_agree() -> None:
    itself = next(family for family in FAMILIES if family.name == "a set against itself")
    program = ed.parse("Y[i,j] = A[i,k]*B[j,k]*C[j]", A=(3, 4), B=(5, 4), C=(5,))
    a, b, c = family_inputs(program.inputs, itself, "cpu").values()
    assert torch.equal(b, a[[0, 1, 2, 0, 1]])
    assert len(set(c.tolist())) == 5


def test_the_list_of_differences_is_what_its_plain_lines_compute() -> None:
    assert len(DIFFERENCES) >= 25
    generator = torch.Generator().manual_seed(0)
    for found in DIFFERENCES:
        program = ed.parse(found.text, dtypes="float64", **cast(Any, found.shapes))
        assert set(found.data) <= {tensor.name for tensor in program.inputs}
        if found.name not in ("variance", "covariance", "total variation", "Laplacian"):
            continue  # `einderive bench digits` compares them all
        values = [torch.randn(t.shape, generator=generator) for t in program.inputs]
        assert found.plain(*values).shape == program.roots()[0].shape
