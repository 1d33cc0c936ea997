"""Programs whose stages are compiled loops enter the race, are judged, and can be chosen."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.back_ends import cpu_kernels
from einderive.eops.back_ends.cpu_kernels import CPU_KERNELS
from einderive.frontend.running.execute import executable
from einderive.frontend.trial.compiling import AS_GIVEN
from tests.frontend.races import candidates_win, nobody_is_slow

CHAIN = "Y[i,j] = (X[i,j]*w[j] + X[i,j])/(1 + w[j]*w[j]) - X[i,j]"
SHAPES = {"X": (40, 30), "w": (30,)}


def test_a_stage_as_loops() -> None:
    found = ed.derive(CHAIN, **SHAPES)
    built = executable(found.unchanged, "cpu", compiled=True)
    assert built.words == (CPU_KERNELS.word,)
    x, w = torch.rand(40, 30), torch.rand(30)
    (y,) = built(dict(zip(found.source.inputs, (x, w), strict=True)))
    torch.testing.assert_close(y, (x * w + x) / (1 + w * w) - x)


@pytest.mark.compiled
def test_compile_tries_them(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)
    f = ed.compile(CHAIN, **SHAPES)
    tried = {trial.label: trial for trial in f.trials}
    assert tried[AS_GIVEN].verdict == "accepted"
    assert tried[AS_GIVEN].words == (CPU_KERNELS.word,)


@pytest.mark.compiled
def test_a_chosen_one_gives_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """Called with torch and NumPy operands, dense and not, in both precisions."""
    candidates_win(monkeypatch)
    f = ed.derive(CHAIN, **SHAPES).compile(seconds=0.01, tried=0)
    assert CPU_KERNELS.word in f.chosen.words
    x, w = torch.rand(30, 40).T, torch.rand(60)[::2]
    expected = (x * w + x) / (1 + w * w) - x
    for _ in range(3):  # recorded, replayed
        torch.testing.assert_close(f(X=x, w=w), expected)
        torch.testing.assert_close(f(X=x.contiguous(), w=w.contiguous()), expected)
    np.testing.assert_allclose(f(X=x.numpy(), w=w.numpy()), expected.numpy(), rtol=1e-5, atol=1e-6)
    wide = f(X=x.double(), w=w.double())
    torch.testing.assert_close(wide, (x.double() * w.double() + x) / (1 + w.double() ** 2) - x)


@pytest.mark.compiled
def test_without_numba_torch_computes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_kernels, "installed", lambda: False)
    f = ed.compile(CHAIN, **SHAPES)
    assert not any("compiled" in trial.label for trial in f.trials)
    x, w = torch.rand(40, 30), torch.rand(30)
    torch.testing.assert_close(f(X=x, w=w), (x * w + x) / (1 + w * w) - x)


@pytest.mark.compiled
def test_loops_that_take_far_too_long_are_not_tried() -> None:
    """Two products as written in one statement: 10^9 steps, where two matrix products take 10^6."""
    n = 180
    f = ed.compile("Y[i,l] = A[i,j]*B[j,k]*C[k,l]", A=(n, n), B=(n, n), C=(n, n))
    assert not any("compiled" in trial.label for trial in f.trials)


def test_what_multiplies_matrices_stays_with_torch() -> None:
    found = ed.derive("Y[i,j] = A[i,k]*B[k,j]", A=(300, 300), B=(300, 300))
    assert executable(found.unchanged, "cpu", compiled=True).words == ("matmul",)
