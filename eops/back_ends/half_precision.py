"""Elementwise stages on a GPU: torch's operations, or a kernel for half precision.

In half precision, torch's operations would first write out each operand in float32, and then the
result (docs/measurements/gpu.md); the kernel reads and writes each element once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import torch

from einderive.eops.back_ends import triton
from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.library.elementwise import ELEMENTWISE
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import HALVES, depends_on_inputs
from einderive.ta.ir.subst import sources


def _lower(task: Task) -> Run | None:
    scope = task.scope
    if task.operator != ELEMENTWISE.name or task.device != "cuda" or not depends_on_inputs(scope):
        return None
    library, kernel = lower(scope), triton.triton_stage(scope, open_beyond=triton.open_beyond(task))
    read = sources(scope.body)

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        types = [buffers[source].dtype for source in read]
        halves = reduce(torch.promote_types, types) in HALVES
        return kernel(buffers) if halves else library(buffers)

    return run


HALF_PRECISION = BackEnd(_lower)
