"""Stages as generated Triton kernels, on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.positions import Positions
from einderive.eops.torch_views.types import depends_on_inputs
from einderive.ta.exact.direct import direct
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import sources


def _lower(task: Task) -> Run | None:
    if task.device != "cuda" or not depends_on_inputs(task.scope):
        return None  # without inputs, the result has the program's type
    if direct(task.scope) is not None:
        return None  # a gather or a scatter, of which a kernel would visit every term
    return triton_stage(task.scope)


def triton_stage(scope: Scope) -> Run:
    """The stage as a generated kernel, for each tuple of element types that it meets."""
    from einderive.eops.triton_kernels.launch import (
        launcher,  # Triton is needed only where a GPU is
    )

    positions = Positions(scope)
    read = sources(positions.scope.body)
    launch = opaque(launcher(positions.scope))

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        held = positions.beside(buffers)
        return launch(*[held[source] for source in read])

    return run


TRITON = BackEnd(_lower, "eOperator (Triton)")
