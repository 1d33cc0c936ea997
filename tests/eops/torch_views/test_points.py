"""A stage at some of its points is what it is there as a whole."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import torch

from einderive.eops.torch_views import points as module
from einderive.eops.torch_views.points import Points
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.notation.parse import parse

POINTS = {"A": (9, 3), "B": (8, 3)}
CASES: list[tuple[str, Mapping[str, tuple[int, ...]], tuple[int, ...]]] = [
    ("Y[i,j] = sum[k]((A[i,k]-B[j,k])^2)", POINTS, (0, 1)),
    ("Y[i,j,l] = sum[k]((A[i,k]-B[j,k])*P[k,l])", {**POINTS, "P": (3, 4)}, (0, 1)),
    (
        "Y[h,w] = sum[r](A[h+r-2,w]*K[r]-B[w]) where h in 1:7",
        {"A": (6, 5), "K": (3,), "B": (5,)},
        (0,),
    ),
    (
        "Y[i,j] = sum[k](A{fill=2}[i+2*k]*B[j//2,k]) where i in 0:9, j in 0:6",
        {"A": (9,), "B": (3, 4)},
        (0, 1),
    ),
]


@pytest.mark.parametrize("most", [1 << 22, 20])
@pytest.mark.parametrize(("text", "shapes", "listed"), CASES)
def test_values_at_points(
    text: str,
    shapes: Mapping[str, tuple[int, ...]],
    listed: tuple[int, ...],
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the points are taken in several parts."""
    monkeypatch.setattr(module, "LARGEST", {"cpu": most})
    monkeypatch.setattr(module, "SMALLEST", 4)
    (scope,) = parse(text, shapes, "float64").roots()
    generator = np.random.default_rng(0)
    values = {t.name: generator.standard_normal(t.shape) for t in input_tensors(scope)}
    buffers = {t: torch.from_numpy(values[t.name]) for t in input_tensors(scope)}
    chosen = [generator.integers(0, scope.loops[i].extent, 37) for i in listed]
    points = Points(scope, listed)
    assert (points.size(37, "cpu") < 37) is (most == 20)
    found = points(buffers, [torch.from_numpy(each) for each in chosen])
    whole = np.moveaxis(evaluate(scope, values, RealField()), listed, range(len(listed)))
    np.testing.assert_allclose(found.numpy(), whole[tuple(chosen)], rtol=1e-12)
