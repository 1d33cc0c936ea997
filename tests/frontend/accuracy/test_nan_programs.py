"""No program that compile would run under nan="strict" misplaces NaN or an infinity."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.eops.library import OPERATORS
from einderive.frontend.strict import operators_for
from tests.amount import first
from tests.frontend.nan_programs import misplacing, program

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Y[h] = A[i]*K[h-2*i] where h in 0:5", {"A": (2,), "K": (2,)}),
    ("Y[n,f,h] = A[n,c,i]*K[c,f,h-2*i] where h in 0:33", {"A": (1, 4, 16), "K": (4, 6, 3)}),
    ("Y[f,h] = A[c,h+r-1]*K[f,c,r] where h in 0:9", {"A": (3, 9), "K": (4, 3, 3)}),
    ("Y[h,w] = A[h+r-1,w+s-1]*K[r,s] where h in 0:70, w in 0:70", {"A": (70, 70), "K": (3, 3)}),
    ("Y[i] = sum[k,l](A[i,k]*B[l])", {"A": (3, 4), "B": (5,)}),
    ("E[i,j] = exp(A[i,j]); Y[i,j] = E[i,j]/sum[k](E[i,k])", {"A": (3, 4)}),
)  # fmt: skip


@pytest.mark.parametrize(("text", "shapes"), CASES, ids=[text for text, _ in CASES])
def test_products_with_what_is_outside_are_formed(text: str, shapes: dict[str, Any]) -> None:
    assert not list(misplacing(ed.parse(text, dtypes="float64", **shapes)))


@pytest.mark.parametrize("part", first(2, range(10)))
def test_random_programs(part: int) -> None:
    for seed in range(15 * part, 15 * (part + 1)):
        assert not list(misplacing(program(Random(seed)))), seed


def test_a_transposed_convolution_reaches_every_output() -> None:
    compiled = ed.compile(CASES[0][0], nan="strict", seconds=0.001, **CASES[0][1])
    found = compiled(np.array([np.nan, 1], dtype=np.float32), np.ones(2, dtype=np.float32))
    assert np.isnan(found).all()


def test_what_takes_part() -> None:
    """Transposed convolution and padding by the library never, other convolution not on a GPU."""
    words: dict[str, set[str]] = {}
    for device in ("cpu", "cuda:90"):
        strict = operators_for("strict", device)
        assert [operator.name for operator in strict] == [operator.name for operator in OPERATORS]
        for padded in (0, 1):
            text = f"Y[f,h] = A[c,h+r-{padded}]*K[f,c,r] where h in 0:6"
            few = ed.Budget(states=400)
            found = ed.derive(text, nan="strict", target=device, budget=few, A=(3, 8), K=(4, 3, 3))
            plans = (*found.candidates, found.unchanged)
            words[f"{device} {padded}"] = {s.operator or "" for p in plans for s in p.stages}
    assert "conv1d" in words["cpu 0"]
    assert "conv1d" not in words["cuda:90 0"] | words["cuda:90 1"]
    assert operators_for("ignore", "cpu") == OPERATORS


def test_a_record_of_strict_programs_is_read_with_their_operators(tmp_path: Any) -> None:
    text, shapes = CASES[1]
    found = ed.derive(text, nan="strict", budget=ed.Budget(states=500), **shapes)
    found.save(tmp_path / "d.json")
    again = ed.load(tmp_path / "d.json")
    for plan, other in zip(found.candidates, again.candidates, strict=True):
        assert [s.operator for s in plan.stages] == [s.operator for s in other.stages]
        assert not any((s.operator or "").startswith("conv") for s in other.stages)
    assert again.check()
