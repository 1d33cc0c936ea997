"""The data on which programs are judged satisfy the assumptions, whatever the family makes."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

import einderive as ed
from einderive.frontend.accuracy.inputs.drawn import (
    family_inputs,
    nonfinite_families,
    random_inputs,
    whole_range_inputs,
)
from einderive.frontend.accuracy.inputs.families import FAMILIES, Family
from einderive.frontend.assumptions.check import rounded
from einderive.ta.errors import BuildError
from einderive.ta.ir.node import Tensor

ASSUMPTIONS = (
    "A > 0",
    "A < -2",
    "0 <= A < 1",
    "-3 < A <= 3",
    "A != 0",
    "A == 5",
    "A < inf",
    "A >= 9",
)


def assumed(text: str, dtype: str) -> Tensor:
    (tensor,) = ed.parse(f"assume {text}; Y[i,j] = 2*A[i,j]", A=(30, 7), dtypes=dtype).inputs
    return tensor


def wrong(values: torch.Tensor, tensor: Tensor) -> list[float]:
    """The elements that the assumption, asked of one number after the other, refuses."""
    bounds = rounded(tensor.bounds, values.dtype)
    return [x for x in values.flatten().tolist() if not bounds.holds(x)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("text", ASSUMPTIONS)
def test_all_families_keep_an_assumption(text: str, dtype: str) -> None:
    tensor = assumed(text, dtype)
    for family in (*FAMILIES, *nonfinite_families(3)):
        (values,) = family_inputs([tensor], family, "cpu").values()
        assert values.dtype == getattr(torch, dtype)
        assert wrong(values, tensor) == []
    (values,) = random_inputs([tensor], "cpu").values()
    assert wrong(values, tensor) == []


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("text", ["A > 0", "A != 0", "0 <= A < 2", "A > 1/2", "A > 999", "A < -9"])
def test_integers_keep_an_assumption(text: str, dtype: str) -> None:
    tensor = assumed(text, dtype)
    most = torch.iinfo(getattr(torch, dtype)).max if dtype != "bool" else 1
    if (text == "A > 999" and most < 999) or (text == "A < -9" and dtype in ("uint8", "bool")):
        with pytest.raises(BuildError, match=r"no .* number keeps `A"):
            random_inputs([tensor], "cpu")
        return
    for values in (
        *random_inputs([tensor], "cpu").values(),
        *whole_range_inputs([tensor], "cpu").values(),
        *whole_range_inputs([tensor], "cpu", greatest=100).values(),
    ):
        assert [x for x in values.flatten().tolist() if not tensor.bounds.holds(Fraction(x))] == []


def test_hard_inputs_stay_hard() -> None:
    """Positive numbers are as large, as small and as nearly equal as they were."""
    a, b = ed.parse("assume A > 0; Y[i] = A[i]*B[i]", A=(40,), B=(40,)).inputs

    def made(name: str) -> list[torch.Tensor]:
        (family,) = (each for each in FAMILIES if each.name == name)
        return [*family_inputs([a, b], family, "cpu").values()]

    assert float(made("large numbers")[0].max()) > 2**20
    assert float(made("small numbers")[0].max()) < 2**-18
    one, other = made("nearly equal tensors")
    assert bool(((one - other).abs() <= 1e-6 * one).all())
    assert bool((one != other).any())


def test_what_is_not_assumed_stays_as_it_is() -> None:
    (free,) = ed.parse("Y[i,j] = 2*A[i,j]", A=(30, 7)).inputs
    assumption = assumed("A > 0", "float32")
    both = Family("both", lambda wanted: wanted.drawn(torch.randn))
    (one,), (other,) = (family_inputs([t], both, "cpu").values() for t in (free, assumption))
    assert torch.equal(one.abs(), other)


def test_complex_numbers_have_no_order() -> None:
    with pytest.raises(ed.EinderiveError, match="complex numbers, which have no order"):
        assumed("A > 0", "complex64")
    assert assumed("A != 0", "complex64").bounds.nonzero
