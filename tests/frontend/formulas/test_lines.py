"""Every line beside a formula runs at its tiny size, in both floating types."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from einderive.frontend.formulas import FIELDS, FORMULAS, Formula
from tests.amount import sampled

WRITTEN = [formula for formulas in FIELDS.values() for formula in formulas]


def by_line(formula: Formula, n: int, dtype: str) -> tuple[np.ndarray[Any, Any], ...]:
    """The line's results."""
    values = formula.values(n, dtype).values()
    given = values if formula.arrays else [torch.from_numpy(np.array(v)) for v in values]
    found = formula.plain[0](*given)
    outputs = found if isinstance(found, tuple) else (found,)
    return tuple(np.asarray(y) for y in outputs)


@sampled(6)
@pytest.mark.parametrize("formula", WRITTEN, ids=lambda formula: formula.name)
def test_the_line_runs(formula: Formula) -> None:
    tiny, full = formula.sizes
    assert tiny < full
    operands = formula.values(tiny, "float32")
    assert {name: value.shape for name, value in operands.items()} == dict(formula.shapes(tiny))
    assert all(value.dtype in ("float32", "int64", "bool") for value in operands.values())
    exact, rounded = (by_line(formula, tiny, dtype) for dtype in ("float64", "float32"))
    for one, other in zip(exact, rounded, strict=True):
        assert not np.isnan(one).any()
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_there_are_many_of_every_field_with_a_source_each() -> None:
    assert len(WRITTEN) >= 150
    assert all(len(formulas) >= 12 for formulas in FIELDS.values())
    names = Counter(formula.name for formula in (*WRITTEN, *FORMULAS))
    assert {name for name, times in names.items() if times > 1} == set()
    assert all(formula.source and formula.line for formula in WRITTEN)
