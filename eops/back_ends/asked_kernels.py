"""Stages for which generated kernels are asked on a GPU, also where an operator computes them."""

from __future__ import annotations

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.back_ends.triton import may_compute, open_beyond, tell_kernels, triton_stage
from einderive.eops.library.view import VIEW


def takes(task: Task) -> bool:
    """Whether a kernel computes the stage where kernels are asked for."""
    return may_compute(task) and task.operator != VIEW.name


def _lower(task: Task) -> Run | None:
    if not task.compiled or not takes(task):
        return None
    return triton_stage(task.scope, open_beyond=open_beyond(task))


ASKED_KERNELS = BackEnd(_lower, "eOperator (Triton)", tell=tell_kernels)
