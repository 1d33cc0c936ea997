"""Numbers that leave the integers are in the type of the program's floating inputs."""

from __future__ import annotations

import numpy as np
import pytest

import einderive as ed
from tests.amount import sampled


@sampled(4)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize(
    "text",
    [
        "F[j] = sum[i](x[i] <= t[j])/7",
        "C[j] = sum[i](x[i] <= t[j]); F[j] = C[j]/7",
        "F[j] = sum[i]((x[i] <= t[j])/7)",
    ],
)
def test_a_share_of_comparisons_is_in_the_type_that_is_compared(text: str, dtype: str) -> None:
    x, t = np.arange(7).astype(dtype), np.arange(0, 10, 2).astype(dtype)
    found = ed.evaluate(text, x=x, t=t, budget=ed.Budget(states=5), seconds=0.01)
    assert found.dtype == dtype
    wanted = np.array([1, 3, 5, 7, 7]) / 7
    np.testing.assert_allclose(found, wanted, rtol=8 * np.finfo(dtype).eps)


def test_integers_alone_leave_in_the_default_type() -> None:
    found = ed.evaluate("F[j] = n[j]/7", n=np.arange(3), budget=ed.Budget(states=5), seconds=0.01)
    assert found.dtype == "float32"
