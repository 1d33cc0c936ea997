"""What torch is set to where a formula is compiled is no part of what is compiled."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest
import torch

import einderive as ed


@pytest.mark.parametrize(
    "setting",
    [torch.autocast("cpu"), torch.device("meta"), torch.inference_mode()],
    ids=["autocast", "default device", "inference"],
)
def test_a_formula_is_compiled_as_elsewhere(setting: AbstractContextManager[object]) -> None:
    a, b = torch.randn(2, 16, 16)
    with setting:
        f = ed.compile("Y[i,j] = A[i,k]*B[k,j]", A=(16, 16), B=(16, 16), target="cpu", seconds=0.01)
        f(a.double(), b.double())
    assert all(trial.error < 1e-6 for trial in f.trials if "left out" not in trial.verdict)
    torch.testing.assert_close(f(a, b), a @ b)
    assert not f(a, b).is_inference()
    found = f(a.double(), b.double())
    torch.testing.assert_close(found, a.double() @ b.double())


def test_empty_sums_are_compiled() -> None:
    f = ed.compile("Y[i,j] = A[i,k]*B[k,j]", A=(2, 0), B=(0, 3), target="cpu", seconds=0.01)
    for _ in range(2):
        torch.testing.assert_close(f(torch.ones(2, 0), torch.ones(0, 3)), torch.zeros(2, 3))
