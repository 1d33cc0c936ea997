"""Which families of hard inputs programs are tried on."""

from __future__ import annotations

import pytest
import torch

import einderive as ed
from einderive.frontend.accuracy.inputs.chosen import always_tried, hard_families
from einderive.frontend.accuracy.inputs.drawn import family_inputs
from einderive.frontend.accuracy.inputs.families import EXPONENTS, FAMILIES, HUGE, OF_ROOTS, TINY
from einderive.ta.ir import expr

SHAPES = {"X": (4, 9)}


@pytest.mark.parametrize(
    ("text", "dtype", "always"),
    [
        ("Y[i] = std[k](X[i,k])", "float32", OF_ROOTS),
        ("S[i] = sum[k](X[i,k]*X[i,k]); Y[i,k] = X[i,k]*rsqrt(S[i])", "float32", OF_ROOTS),
        ("Y[i] = std[k](X[i,k])", "bfloat16", (EXPONENTS, *OF_ROOTS)),
        ("Y[i] = std[k](X[i,k])", "float64", ()),
        ("Y[i] = var[k](X[i,k])", "float32", ()),
        ("Y[i,k] = sqrt(X[i,k])", "float32", ()),
    ],
)
def test_roots_of_squares_are_always_tried_where_squares_vanish_or_overflow(
    text: str, dtype: str, always: tuple[object, ...]
) -> None:
    program = ed.parse(text, dtypes=dtype, **SHAPES)
    assert always_tried(program) == always
    families = hard_families(program)
    assert families[2 : 2 + len(always)] == always
    assert len(families) == len({*families}) == len({*FAMILIES, *always})


def test_the_families() -> None:
    tensor = expr.tensor("X", (40, 50), "float32")
    (tiny,) = family_inputs([tensor], TINY, "cpu").values()
    (huge,) = family_inputs([tensor], HUGE, "cpu").values()
    assert not tiny.square().any()
    assert torch.isfinite(huge).all()
    assert torch.isinf(huge.square().sum(1)).all()
