"""Stages of an operator that compiled loops may compute as well: by what takes less time where
they run.

Predictions say too little here: by the library, a convolution with 3 output channels takes a third
of the loops' time, and a sum over all but 16 columns half of it (`einderive bench backward
--formula conv2d_bias`, at 512).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from einderive.eops.back_ends.cpu_kernels import by_loops, tell_loops
from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.library import by_name
from einderive.eops.loops.drafts.group import Group
from einderive.eops.timed import fastest, is_timed


def _lower(task: Task) -> Run | None:
    if task.binding is None or task.alone or not task.scope.sums:
        return None
    if (loops := by_loops(task)) is None:
        return None
    library: Run = by_name(task.operator).launch(task.binding)
    read = Group.alone(task.scope).operands

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        tensors = [buffers[source] for source in read]
        if not is_timed(*tensors):
            return loops(buffers)
        layouts = tuple([(x.dtype, x.shape, x.stride()) for x in tensors])
        forms: list[Callable[[], torch.Tensor]] = [
            partial(form, buffers) for form in (loops, library)
        ]
        key = "loops or library", task.scope, layouts
        return forms[fastest(key, lambda: forms)]()

    return run


LOOPS_OR_LIBRARY = BackEnd(_lower, "eOperator (loops or library)", tell=tell_loops)
