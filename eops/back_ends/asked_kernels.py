"""Stages for which generated kernels are asked on a GPU, also where an operator computes them."""

from __future__ import annotations

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.back_ends.triton import may_run, tell_kernels, triton_stage
from einderive.eops.library.view import VIEW
from einderive.ta.ir.subst import nested_scopes


def takes(task: Task) -> bool:
    """Whether a kernel computes the stage where kernels are asked for."""
    past = any(source not in task.reads for source in nested_scopes(task.scope))
    return may_run(task) and not (task.weights or past or task.operator == VIEW.name)


def _lower(task: Task) -> Run | None:
    return triton_stage(task.scope) if task.compiled and takes(task) else None


ASKED_KERNELS = BackEnd(_lower, "eOperator (Triton)", tell=tell_kernels)
