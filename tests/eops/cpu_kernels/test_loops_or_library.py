"""A stage of an operator that loops may compute as well: both forms give the stage."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.matching.match import match
from einderive.eops.back_ends import loops_or_library
from einderive.eops.back_ends.loops_or_library import LOOPS_OR_LIBRARY
from einderive.eops.back_ends.task import Task
from einderive.eops.library import by_name
from einderive.eops.timed import untimed
from einderive.ta.ir.operator import Binding


def task_of(text: str, operator: str, **shapes: Any) -> tuple[ed.Program, Task]:
    program = ed.parse(text, **shapes)
    (scope,) = program.roots()
    binding = match(by_name(operator), scope)
    assert isinstance(binding, Binding), binding
    return program, Task(scope, "cpu", operator, binding, compiled=True)


@pytest.mark.parametrize("form", [0, 1])
def test_either_form_gives_the_sum(form: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops_or_library, "fastest", lambda *_: form)
    program, task = task_of("Y[i] = X[j,i]", "reduction", X=(40, 30))
    run = LOOPS_OR_LIBRARY.lower(task)
    assert run is not None
    x = torch.randn(40, 30)
    torch.testing.assert_close(run({program.inputs[0]: x}), x.sum(0))


def test_loops_without_timing() -> None:
    program, task = task_of("Y[i] = X[j,i]", "reduction", X=(40, 30))
    run = LOOPS_OR_LIBRARY.lower(task)
    assert run is not None
    x = torch.randn(40, 30)
    with untimed():
        torch.testing.assert_close(run({program.inputs[0]: x}), x.sum(0))


def test_stages_without_sums_are_left_to_others() -> None:
    _, task = task_of("Y[i] = X[i] + 1", "elementwise", X=(40,))
    assert LOOPS_OR_LIBRARY.lower(task) is None
