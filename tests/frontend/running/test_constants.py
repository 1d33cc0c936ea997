"""Stages of iterators alone are computed once."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import einderive as ed
from einderive.frontend.running import constants
from einderive.frontend.running.constants import once
from einderive.frontend.running.execute import executable

TEXT = "C[i] = count[k](i-k >= 0) where i in 0:40, k in 0:5\nY[i] = x[i]/C[i]"


def wanted(x: torch.Tensor) -> torch.Tensor:
    return x / torch.arange(1, 41).clamp(max=5)


def test_programs_with_a_table() -> None:
    derivation = ed.derive(TEXT, x=(40,), budget=ed.Budget(states=1))
    run = executable(derivation.unchanged, "cpu")
    (tensor,) = derivation.source.inputs
    assert len(run.kept) == 1
    for _ in range(2):
        x = torch.randn(40)
        torch.testing.assert_close(run({tensor: x})[0], wanted(x))


def test_a_table_that_is_a_result_is_the_callers() -> None:
    derivation = ed.derive(
        "C[i] = i^2 + 1 where i in 0:9\nD[i] = C[i]\nY[i] = x[i]*C[i]",
        x=(9,),
        budget=ed.Budget(states=1),
    )
    run = executable(derivation.unchanged, "cpu")
    (tensor,) = derivation.source.inputs
    for _ in range(3):
        table, y = run({tensor: torch.ones(9)})
        torch.testing.assert_close(y, table.to(y.dtype))
        assert table.tolist() == [i * i + 1 for i in range(9)]
        table.zero_()


class Counted:
    """A stage of one number, that notes how often it is computed."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, buffers: Any) -> torch.Tensor:
        self.calls += 1
        given = next(iter(buffers.values()))
        return torch.ones(5, dtype=given.dtype)


def test_once_for_inputs_of_the_same_types() -> None:
    (one,) = ed.parse("Y[i] = x[i]", x=(5,)).inputs
    counted = Counted()
    run = once(counted)
    for dtype, calls in ((torch.float32, 1), (torch.float32, 1), (torch.float64, 2)):
        assert run({one: torch.zeros(5, dtype=dtype)}).dtype == dtype
        assert counted.calls == calls


def test_nothing_is_kept_of_what_a_mode_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = ed.parse("Y[i] = x[i]", x=(5,)).inputs
    counted = Counted()
    run = once(counted)
    with FakeTensorMode():
        run({one: torch.zeros(5)})
    with torch.inference_mode():
        found = run({one: torch.zeros(5)})
    assert type(found) is torch.Tensor
    assert not found.is_inference()
    assert run({one: torch.zeros(5)}) is found
    monkeypatch.setattr(constants, "MOST_KEPT", 19)
    counted = Counted()
    run = once(counted)
    for calls in (1, 2):
        run({one: torch.zeros(5)})
        assert counted.calls == calls
