"""Loops that compute in float64 what a formula computes in float32, where that is not enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.back_ends.cpu_kernels import CPU_KERNELS
from einderive.eops.back_ends.task import Task
from einderive.eops.cache_folder import VARIABLE
from einderive.eops.loops.drafts.group import Group
from einderive.frontend.timed.trial import (
    AS_GIVEN,
    in_float64,
    in_loops,
    program_of,
)
from einderive.ta.ir.subst import stages
from tests.frontend.races import candidates_win

SCORES = "Z[i,j] = (X[i,j]-mean[k](X[i,k]))/std[k](X[i,k])"
DEVIATION = "S[i] = std[k](X[i,k])"
QUICK: dict[str, Any] = {"seconds": 0.01, "budget": ed.Budget(states=200)}

pytestmark = pytest.mark.compiled


def exact(text: str, x: torch.Tensor) -> torch.Tensor:
    wide = x.double()
    deviation = wide.std(1, keepdim=True, correction=0)
    return (wide - wide.mean(1, keepdim=True)) / deviation if text == SCORES else deviation[:, 0]


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    candidates_win(monkeypatch)
    monkeypatch.setenv(VARIABLE, str(tmp_path))


@pytest.mark.usefixtures("raced")
@pytest.mark.parametrize("text", [SCORES, DEVIATION])
def test_squares_that_vanish_or_overflow_in_float32(text: str) -> None:
    """`torch.std` is right there; so are loops in float64, remembered ones, and of other sizes."""
    first = ed.compile(text, X=("n", 50), n=8, **QUICK)
    again = ed.compile(text, X=("n", 50), n=8, **QUICK)
    assert first.remembered is None
    assert again.remembered is not None
    refused = [trial for trial in first.trials if trial.inexact and in_loops(trial.label)]
    assert refused
    for function in (first, again):
        assert in_float64(function.chosen.label)
        for rows, scale in ((8, 1.0), (8, 1e-30), (9, 1e-30), (8, 1e20)):
            x = torch.randn(rows, 50) * scale
            found, wanted = function(x), exact(text, x)
            assert found.dtype == torch.float32
            assert (found - wanted).abs().max() <= 1e-6 * wanted.abs().max()


@pytest.mark.usefixtures("raced")
def test_programs_in_float64_have_no_such_loops() -> None:
    function = ed.compile(SCORES, X=(8, 50), dtypes="float64", **QUICK)
    assert not any(in_float64(trial.label) for trial in function.trials)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_values_in_between_are_in_float64(dtype: torch.dtype) -> None:
    """Sums of squares, of which the formula subtracts so much that float32 holds nothing of what is
    left; the results have the formula's type."""
    x = (1000 + torch.randn(40, 30)).to(dtype)
    text = "S[i] = sum[j](X[i,j]^2) - 1000000*30; Y[i,j] = S[i] + X[i,j]"
    (root,) = ed.parse(text, X=(40, 30), dtypes=str(dtype).partition(".")[2]).roots()
    tasks = [Task(scope, "cpu", compiled=True, wide=True) for scope in stages(root)]
    assert CPU_KERNELS.fuse is not None
    (one,) = CPU_KERNELS.fuse(tasks, [root])
    (operand,) = Group(stages(root), (root,)).operands
    (found,) = one.run({operand: x})
    assert found.dtype == dtype
    wide = x.double()
    wanted = wide.square().sum(1, keepdim=True) - 3e7 + wide
    assert torch.equal(found, wanted.to(dtype))


def test_labels() -> None:
    label = f"candidate 1{AS_GIVEN.removeprefix('as given')} in float64"
    assert in_loops(label)
    assert in_float64(label)
    assert program_of(label) == "candidate 1"
    assert program_of(AS_GIVEN) == "as given"
    assert not in_float64(AS_GIVEN)
    assert not in_loops("candidate 1")
