"""Sums of products that a choice leaves out: the mask stays with one factor."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import einderive as ed
from einderive.frontend.baselines.rival import rivals
from einderive.frontend.products import factors_of, is_masked

SHAPES: dict[str, tuple[int, ...]] = {
    "A": (6, 6),
    "B": (6, 4),
    "X": (6, 3),
    "W": (3, 4),
    "d": (6,),
    "I": (6,),
}
MASK = "A[i,k] > 0 or i == k"


def shapes_of(text: str) -> dict[str, Any]:
    return {name: shape for name, shape in SHAPES.items() if f"{name}[" in text}


MASKED = [
    f"Y[i,j] = sum[k](where({MASK}, B[k,j], 0))",
    f"Y[i,j] = sum[k](where({MASK}, 3*B[k,j]/d[i], 0))",
    f"Y[i,j] = sum[k](where({MASK}, d[k]*B[k,j], 0))",
    f"Y[i,j] = sum[k](where({MASK}, sum[c](X[k,c]*W[c,j])/sqrt(d[i]^2 + d[k]^2 + 1), 0))",
    "Y[i,j] = sum[k](where(k > i, A[k,i]*B[k,j], 0))",
    "Y[i,j] = sum[k](where(k > i, A[k,i]*B[k,j], where(k == 0, 2*A[k,i]*B[k,j], 0)))",
]


@pytest.mark.parametrize("text", MASKED[1:5])
def test_the_mask_stays_with_one_factor(text: str) -> None:
    program = ed.parse(text, **shapes_of(text))
    (root,) = program.roots()
    assert is_masked(root.body)
    _, factors = factors_of(root.body)
    assert len(factors) == 2
    product = next(r for r in rivals(program, "cpu") if "@" in r.text.splitlines()[-1])
    given = [torch.randn(t.shape, dtype=torch.float64) for t in product.inputs]
    values = {t.name: v.numpy() for t, v in zip(product.inputs, given, strict=True)}
    torch.testing.assert_close(
        product.call(*given), torch.as_tensor(ed.evaluate(text, **values)), rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize(
    "text",
    [
        MASKED[0],  # one factor, which has the mask
        MASKED[5],  # two coefficients
        "Y[i,j] = sum[k](where(k > i, A[k,i]*B[k,j], 1))",
        "Y[i,j] = sum[k](where(k > i, A[k,i]*B[k,j], A[k,0]))",
        "Y[i] = sum[k](where(i > k, 1/A[k,i], 0)*d[k])",
        "Y[i] = sum[k](where(k > i, (1/d[i])*(1/d[k]), 0))",
        "Y[i,j] = sum[k](where(abs(B[k,j]) < 9, B[k,j]/d[i], 0))",
        "Y[i,j] = A[i,0]*B[i,j]",
    ],
)
def test_what_stays_as_it_is(text: str) -> None:
    """No 0, quotients that the mask may keep from dividing by 0, and a factor that is asked for."""
    (root,) = ed.parse(text, **shapes_of(text)).roots()
    assert not is_masked(root.body)


@pytest.mark.parametrize("text", MASKED)
def test_strict_programs_form_every_product_behind_the_mask(text: str) -> None:
    for rival in rivals(ed.parse(text, **shapes_of(text)), "cpu", strict=True):
        assert "where" not in rival.text or "@" not in rival.text.splitlines()[-1]
