"""Stages as torch operations on strided views: every stage, on every device."""

from __future__ import annotations

from einderive.eops.back_ends.compilers import installed
from einderive.eops.back_ends.narrow_products import with_kernels
from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.torch_views.stage import lower


def _lower(task: Task) -> Run:
    run = lower(task.scope, as_written=task.strict)
    kernels = task.compiled and not task.open_sizes and task.device == "cpu" and installed()
    return with_kernels(run) if kernels else run


STRIDED_VIEWS = BackEnd(_lower, "eOperator (strided views)")
