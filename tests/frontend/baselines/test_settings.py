"""The baseline leaves torch's settings, which the whole process shares, as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed

CHAIN = "Y[i] = A[i,k]*B[k,j]*x[j]"
SHAPES: dict[str, Any] = {"A": (4, 4), "B": (4, 4), "x": (4,)}
THREADS = 4
BACKEND: Any = torch.backends.opt_einsum


@pytest.fixture(autouse=True, params=[True, False], ids=["opt_einsum", "no opt_einsum"])
def flags(request: pytest.FixtureRequest) -> Iterator[None]:
    """torch's setting as the user has it: the same afterwards."""
    if not BACKEND.is_available():
        pytest.skip("torch has no opt_einsum here")
    before = BACKEND.enabled, BACKEND.strategy
    BACKEND.enabled, BACKEND.strategy = True, "auto"
    BACKEND.enabled = request.param
    yield
    found = BACKEND.enabled, BACKEND.strategy
    BACKEND.enabled = True
    BACKEND.strategy, BACKEND.enabled = before[1], before[0]
    assert found == (request.param, "auto")


def small(text: str, **shapes: Any) -> ed.CompiledFunction:
    budget = ed.Budget(states=1)
    return ed.compile(text, target="cpu", budget=budget, seconds=0.001, **shapes)


def together(work: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def test_calls_in_threads() -> None:
    run = small(CHAIN, effort=30.0, **SHAPES)  # with time for all plain programs
    assert any("torch.einsum" in word for trial in run.trials for word in trial.words)
    a, b, x = torch.ones(4, 4), torch.ones(4, 4), torch.ones(4)

    def work(_: int) -> bool:
        return all(torch.equal(run(a, b, x), torch.full((4,), 16.0)) for _ in range(1000))

    assert all(together(work))
    assert run(a, b, x).tolist() == [16.0] * 4


def test_compilations_in_threads() -> None:
    def work(number: int) -> list[int]:
        size = number + 2
        run = small(CHAIN, A=(size, 4), B=(4, 4), x=(4,))
        return list(run(torch.ones(size, 4), torch.ones(4, 4), torch.ones(4)).shape)

    assert together(work) == [[2], [3], [4], [5]]


def test_einsum_derived_in_threads() -> None:
    def work(number: int) -> float:
        ones = np.ones((2, number + 2))
        return float(ed.einsum("ij,ij,ij->", ones, ones, ones, derive=True))

    assert together(work) == [4.0, 6.0, 8.0, 10.0]
