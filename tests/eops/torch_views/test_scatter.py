"""A stage whose terms each go to one place: against the stage that visits all terms for each
element, in every type, with places outside and NaN that goes nowhere."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from einderive.eops.torch_views import stage as stages
from einderive.ta.exact.scattered import scattered
from einderive.ta.ir.subst import stages as all_stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.eops.torch_views.test_one_term import run
from tests.ta.exact.test_one_term import values

SHAPES = {"E": (6, 4), "I": (6,), "J": (6,), "x": (6,), "B": (4, 6)}
FOUND = [
    "Y[v] = sum[n](where(I[n] == v, 1, 0)) where v in 0:4",
    "Y[v] = sum[n](where(I[n] == v, J[n], 0)) where v in -2:4",
    "Y[v,d] = sum[n](where(v == 2-I[n], E[n,d], 0)) where v in 0:4",
    "Y[d,v] = sum[n](where(x[n]+1 == v, E[n,d]*B[d,n], 0)) where v in 0:4",
    "Y[d,v] = sum[n](where(B[d,n] == v, E[n,d], 0)) where v in 1:4",
    "Y[v,w] = sum[n](where(I[n] == v and J[n] == w and x[n] > 0, x[n]/2, 0)) "
    "where v in 0:4, w in 0:3",
    "Y[v,w] = sum[n,m](where(I[n] == v and J[m] == w, E[n,m], 0)) "
    "where v in 0:4, w in 0:3, m in 0:4",
    "Y[v] = sum[n,d](where(I[n] == v, E[n,d]*B[d,n], 0)) where v in 0:4",
    "Y[v] = sum[n,d](where(I[n] == v and n+d < 6, E[n,d], 0)) where v in 0:4",
    "Y[v] = max[n](where(I[n] == v, x[n], -inf)) where v in 0:4",
    "Y[v,d] = min[n](where(I[n] == v, E[n,d], inf)) where v in 0:4",
    "Y[v] = prod[n](where(I[n] == v, x[n], 1)) where v in 0:4",
    "Y[v] = sum[i,j](where(i+j == v, x[i]*I[j], 0)) where v in 0:9",
    "Y[v,i] = sum[j](where(i-j == v, x[i]*I[j], 0)) where v in -3:3",
    "Y[v] = sum[n](where(I[n] == v, sum[w](where(J[n] == w, x[w], 0)), 0)) where v in 0:4",
    "Y[v] = sum[n](where(x[0] == v, x[n], 0)) where v in 0:4",
]  # fmt: skip
OTHERS = [
    "Y[v] = sum[n](where(I[n] == v, J[n], 1)) where v in 0:4",
    "Y[v] = sum[n](where(I[n] == v, J[n]+v, 0)) where v in 0:4",
    "Y[v] = sum[n](where(I[n] == v, x[v], 0)) where v in 0:4",
    "Y[v] = sum[n](where(I[n] <= v, J[n], 0)) where v in 0:4",
    "Y[v] = max[n](where(I[n] == v, x[n], 0)) where v in 0:4",
    "Y[v,n] = where(I[n] == v, J[n], 0) where v in 0:4",
]


@sampled(4)
@pytest.mark.parametrize("as_written", [False, True])
@pytest.mark.parametrize("bad", [None, np.nan, 0.5, 1e300])
@pytest.mark.parametrize("text", FOUND)
def test_it_is_the_stage_that_visits_all(
    text: str, bad: float | None, as_written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scope,) = parse(text, {n: s for n, s in SHAPES.items() if n in text}).roots()
    assert any(scattered(stage) for stage in all_stages(scope))
    for seed in range(3):
        given = values(scope, seed, bad)
        found = run(scope, given, as_written=as_written)
        with monkeypatch.context() as patch:
            patch.setattr(stages, "scatter_stage", lambda scope: None)
            wanted = run(scope, given, as_written=as_written)
        assert found.dtype == wanted.dtype
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=0, equal_nan=True)


@pytest.mark.parametrize("text", OTHERS)
def test_other_equalities_say_nothing(text: str) -> None:
    (scope,) = parse(text, {n: s for n, s in SHAPES.items() if n in text}).roots()
    assert scattered(scope) is None


@sampled(2)
@pytest.mark.parametrize("index", ["uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("outside", [3, 200])
def test_every_type(dtype: str, index: str, outside: int) -> None:
    text = "Y[I[n],d] += E[n,d] where n in 0:5"
    (scope,) = parse(
        text, {"I": (5,), "E": (6, 4), "Y": (4, 4)}, {"E": dtype, "I": "int64"}
    ).roots()
    e = (5 * np.random.default_rng(1).standard_normal((6, 4))).astype(dtype)
    i = np.array([3, 0, outside, 1, 3])
    found = run(scope, {"E": torch.tensor(e), "I": i.astype(index)})
    wanted = np.zeros((4, 4), np.int64 if e.dtype.kind in "bi" else np.float64)
    np.add.at(wanted, i[i < 4], e[:5][i < 4])
    assert found.dtype == (torch.int64 if e.dtype.kind in "bi" else torch.tensor(e).dtype)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_nan_that_goes_nowhere_does_not_count() -> None:
    (scope,) = parse("Y[I[n]] += x[n]", {"I": (5,), "x": (5,), "Y": (3,)}, {"I": "int64"}).roots()
    x = np.array([1, np.nan, np.inf, 3, 4])
    found = run(scope, {"I": np.array([2, -1, 3, 2, 0]), "x": x})
    np.testing.assert_array_equal(found.numpy(), [4, 0, 4])


def test_large_results_are_not_visited_term_by_term() -> None:
    """All terms of this one would be 2^40."""
    n = 1 << 20
    (scope,) = parse("Y[I[n]] += x[n]", {"I": (n,), "x": (n,), "Y": (n,)}, {"I": "int64"}).roots()
    x, i = np.random.default_rng(2).standard_normal(n), np.random.default_rng(3).permutation(n)
    np.testing.assert_array_equal(run(scope, {"I": i, "x": x}).numpy()[i], x)
