"""Recordings of torch's calls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from einderive.frontend.call import record as module
from einderive.frontend.call.record import Unrecordable, record
from einderive.frontend.call.simplify import simplified

Tensors = Sequence[torch.Tensor]


def run(operands: Tensors) -> Tensors:
    """Written to where nothing else reads the writes' results."""
    found = operands[0].new_empty(4)
    found[:2].fill_(7)
    found[2:].copy_(operands[0])
    return (found * 1,)


class Mode(TorchDispatchMode):
    """As a counter of operations has it, or `opcheck`."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def recorded_in_an_operator(name: str) -> list[Any]:
    """The functions of the steps that are recorded in the kernel of an operator that a mode calls,
    where torch does not count writes."""
    found: list[Any] = []

    def kernel(x: torch.Tensor) -> torch.Tensor:
        trace, results = record(run, [x])
        found.extend(getattr(step, "function", None) for step in simplified(trace).steps)
        return results[0]

    operator = torch.library.custom_op(
        f"einderive_tests::{name}", kernel, mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    with Mode():
        result = operator(torch.ones(2))
    assert result.tolist() == [7, 7, 1, 1]
    return found


def test_writes_that_torch_does_not_count_are_recorded() -> None:
    found = recorded_in_an_operator("recorded")
    assert {torch.Tensor.fill_, torch.Tensor.copy_} <= {*found}
    trace, _ = record(run, [torch.ones(2)])
    assert found == [getattr(step, "function", None) for step in simplified(trace).steps]


def test_nothing_is_recorded_where_writes_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_counted", nullcontext)
    with pytest.raises(Unrecordable, match="not counted"):
        recorded_in_an_operator("uncounted")
