"""Stages as torch operations on strided views: every stage, on every device."""

from __future__ import annotations

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.torch_views.stage import lower


def _lower(task: Task) -> Run:
    return lower(task.scope, as_written=task.strict)


STRIDED_VIEWS = BackEnd(_lower, "eOperator (strided views)")
