"""Stages as compiled loops on a CPU, where they move data rather than multiply matrices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from math import prod
from typing import Any, Final

import torch

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.loops.group import Group
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.positions import Positions, placed
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import depends_on_inputs, types_of
from einderive.ta.ir.node import Access
from einderive.ta.ir.subst import nested_scopes, sources

MOST_REUSE: Final = 64
"""A stage with more steps for each element that it reads or writes multiplies matrices: torch's
libraries do that better."""
COMPUTED: Final = (torch.float32, torch.float64)


@cache
def installed() -> bool:
    """Whether numba and what goes with it are there; without, stages are torch operations."""
    return all(find_spec(name) is not None for name in ("numba", "llvmlite", "platformdirs"))


def worth_compiling(task: Task) -> bool:
    """Whether a kernel may be faster than torch's operations for the stage."""
    scope = task.scope
    if task.device != "cpu" or task.weights or not installed() or scope.empty:
        return False
    if isinstance(scope.body, Access) and not scope.sums:
        return False  # a view
    if not depends_on_inputs(scope) or _reads_past(task):
        return False
    scope = placed(scope)
    moved = scope.size + sum(prod(side.extent for side in s.ranges) for s in sources(scope.body))
    if prod(scope.extents) > MOST_REUSE * moved:
        return False
    from einderive.eops.cpu_kernels.build import takes

    return takes(scope)


def _reads_past(task: Task) -> bool:
    """Whether the operator computes more than this stage, so that its sources are not there."""
    if task.binding is None:
        return False
    there = {operand.source for operand in task.binding.operands}
    return any(source not in there for source in nested_scopes(task.scope))


def _lower(task: Task) -> Run | None:
    if not task.compiled or not worth_compiling(task):
        return None
    from einderive.eops.cpu_kernels.build import Kernel, build

    positions = Positions(task.scope)
    scope = positions.scope
    read, types = sources(scope.body), types_of(scope)
    group = Group.alone(scope)
    otherwise = lower(scope, as_written=task.strict)
    known: dict[object, Kernel] = {}

    @opaque
    def compute(*tensors: torch.Tensor) -> torch.Tensor:
        key = tuple([(tensor.dtype, tensor.stride()) for tensor in tensors])
        kernel = known.get(key)
        if kernel is None or any(tensor.is_neg() for tensor in tensors):
            buffers = dict(zip(read, tensors, strict=True))
            made = types(buffers)
            if made.compute != made.result or made.result not in COMPUTED:
                return otherwise(buffers)
            tensors = tuple([tensor.resolve_neg() for tensor in tensors])
            names = tuple(str(tensor.dtype).removeprefix("torch.") for tensor in tensors)
            strides = tuple(tensor.stride() for tensor in tensors)
            kernel = build(group, names, strides, str(made.result).removeprefix("torch."))
            known[key] = kernel
        (result,) = kernel(*tensors)
        return result

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        held = positions.beside(buffers)
        return compute(*[held[source] for source in read])

    return run


CPU_KERNELS = BackEnd(_lower, "eOperator (compiled loops)")
