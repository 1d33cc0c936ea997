"""Products with what comes before and after them; the values are judged in Triton's interpreter by
`test_emit_triton`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.eops.ahead_of_time import TARGETS, compile_kernel
from tests.eops.fused_products import MATRICES, PRODUCT, PRODUCTS, Product

LONG_ROW = {"X": (1, 200_000)}
APART = {
    "softmax of a product": Product(f"{PRODUCT}; out Y[i,j] = softmax[j](C[i,j])", MATRICES),
    "turned": Product(
        "C[i,j] = sum[k](A[i,k]*B[k,j]); out Y[i,j] = C[j,i] + 1", {"A": (33, 40), "B": (40, 33)}
    ),
    "two results": Product(f"out {PRODUCT}; out Y[i,j] = C[i,j] + 1", MATRICES),
    "long sum": Product(f"{PRODUCT}; out Y[i,j] = C[i,j] + 1", {"A": (33, 9000), "B": (9000, 18)}),
    "one long row": Product("Y[i,j] = softmax[j](X[i,j])", LONG_ROW),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_one_kernel(name: str) -> None:
    case = PRODUCTS[name]
    (fused,) = case.fused
    assert set(fused.stages) == set(case.group.stages)
    assert "tl.dot(" in case.kernel.source
    assert case.kernel.source.count("tl.store(") == 1


@pytest.mark.parametrize("name", APART)
def test_stages_that_are_faster_apart(name: str) -> None:
    """The product, or each reduction of the row, is a kernel of its own."""
    reducing = APART[name].group.reductions
    for fused in APART[name].fused:
        assert reducing[0] not in fused.stages


@pytest.mark.parametrize("target", TARGETS)
def test_matrix_instructions(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel = PRODUCTS["linear of halves"].kernel
    made = compile_kernel(kernel, target, kernel.plan.configs[0])
    assert ("v_mfma" if target.startswith("hip") else ".f32.f16.f16") in made.assembly
    assert made.spilled() == 0
