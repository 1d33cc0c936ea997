"""A stage of which an equality leaves one term, as one advanced index: against NumPy's indexing, in
every type, with indices outside and NaN where nothing is picked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from einderive.eops.torch_views import stage as stages
from einderive.eops.torch_views.stage import lower_all
from einderive.ta.exact.interp import input_tensors
from einderive.ta.exact.one_term import one_term
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.ta.exact.test_one_term import FOUND, SHAPES, values


def scope_of(text: str) -> Scope:
    (scope,) = parse(text, {n: s for n, s in SHAPES.items() if n in text}).roots()
    return scope


def run(scope: Scope, given: dict[str, Any], *, as_written: bool = False) -> torch.Tensor:
    compute = lower_all(scope, as_written=as_written)
    return compute({t: torch.as_tensor(given[t.name]) for t in input_tensors(scope)})


@sampled(2)
@pytest.mark.parametrize("as_written", [False, True])
@pytest.mark.parametrize("bad", [None, np.nan, 0.5, 1e300])
@pytest.mark.parametrize("text", FOUND)
def test_it_is_the_stage_that_visits_all(
    text: str, bad: float | None, as_written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = scope_of(text)
    for seed in range(3):
        given = values(scope, seed, bad)
        found = run(scope, given, as_written=as_written)
        with monkeypatch.context() as patch:
            patch.setattr(stages, "one_term_stage", lambda scope: None)
            wanted = run(scope, given, as_written=as_written)
        assert found.dtype == wanted.dtype
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=0, equal_nan=True)


@pytest.mark.parametrize("index", ["uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64"])
def test_every_type(dtype: str, index: str) -> None:
    generator = np.random.default_rng(1)
    e, i = (5 * generator.standard_normal((6, 4))).astype(dtype), np.array([5, 0, 6, 200, 3])
    found = run(scope_of(FOUND[0]), {"E": e, "I": i.astype(index)})
    wanted = np.where((i < 6)[:, None], e[np.clip(i, 0, 5)], np.zeros((), dtype))
    np.testing.assert_array_equal(found.numpy(), wanted)


def test_nan_that_is_not_picked_does_not_count() -> None:
    e = np.full((6, 4), np.nan)
    e[2] = 1
    found = run(scope_of(FOUND[0]), {"E": e, "I": np.array([2, -1, 6, 7, 2])})
    np.testing.assert_array_equal(found.numpy()[:, 0], [1, 0, 0, 0, 1])


def test_large_tables_are_not_visited() -> None:
    """All terms of this one would be 2^40."""
    text = "Y[n] = sum[v](where(I[n] == v, x[v], 0))"
    (scope,) = parse(text, {"I": (1 << 20,), "x": (1 << 20,)}).roots()
    assert one_term(scope)
    x = np.random.default_rng(2).standard_normal(1 << 20)
    i = np.random.default_rng(3).permutation(1 << 20)
    np.testing.assert_array_equal(run(scope, {"I": i, "x": x}).numpy(), x[i])


def test_an_index_without_iterators() -> None:
    (scope,) = parse("Y = sum[i](where(i == K, 2*D[i], 0))", {"D": (5,), "K": ()}).roots()
    for place, wanted in ((3.0, 8.0), (7.0, 0.0)):
        given = {"D": np.arange(1.0, 6.0), "K": np.array(place)}
        assert run(scope, given).item() == wanted
