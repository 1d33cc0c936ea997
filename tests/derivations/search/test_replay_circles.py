"""Replacements that read what they replace end no search, and are applied one by one."""

from __future__ import annotations

import pytest

import einderive as ed

WEIGHTED = "M[j] = sum[i](w[i]*X[i,j])/sum[i](w[i]); "


@pytest.mark.parametrize("power", [1, 2])
def test_deviations_from_a_weighted_mean(power: int) -> None:
    """Here A becomes B, which reads C, which reads A: the search did not return."""
    text = WEIGHTED + f"Y[j] = sum[i](w[i]*(X[i,j]-M[j])^{power})"
    found = ed.derive(text, budget=ed.Budget(states=300), w=(6,), X=(6, 5))
    assert found.candidates
    for number in range(len(found.candidates)):
        assert found.check(number)
