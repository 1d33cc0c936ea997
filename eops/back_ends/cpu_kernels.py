"""Stages as compiled loops on a CPU, where no product of matrices computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import torch

from einderive.eops.back_ends.compilers import installed, usable
from einderive.eops.back_ends.task import BackEnd, Fused, Run, Task, Types
from einderive.eops.loops.drafts.group import Group, is_view
from einderive.eops.loops.drafts.picks import picked
from einderive.eops.opaque import opaque
from einderive.eops.told import Told
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import depends_on_inputs
from einderive.ta.exact.direct import direct
from einderive.ta.exact.one_term import one_term
from einderive.ta.exact.scattered import scattered
from einderive.ta.ir.node import Apply, Power, Scope, Source
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import nested_scopes, sources, walk

if TYPE_CHECKING:
    from einderive.eops.cpu_kernels.build import Kernel

Compute: TypeAlias = Callable[[Mapping[Any, torch.Tensor]], tuple[torch.Tensor, ...]]

MOST_REUSE: Final = 64
"""A stage with more operations for each element that it reads or writes multiplies matrices, which
torch's libraries do better, unless a function is asked in each of them."""

PART: Final = 0.1
"""A stage more in a kernel takes about this part of a launch."""


def worth_compiling(task: Task) -> bool:
    """Whether a kernel may be faster than torch's operations for the stage."""
    if is_view(task.scope):
        return False
    return _adds_terms(task) or _fusible(task)


def _adds_terms(task: Task) -> bool:
    """Whether the stage is a scatter, which a loop over its terms computes."""
    if not _may_run(task) or not task.scope.sums:
        return False
    return scattered(task.scope) is not None and one_term(task.scope) is None and usable()


def _fusible(task: Task) -> bool:
    """Whether the stage may be part of a kernel."""
    scope = task.scope
    if not _may_run(task):
        return False
    if direct(scope) is not None and picked(scope) is None:
        return False  # a gather or a scatter, of which loops would visit every term
    inputs = (source for source in sources(scope.body) if source is not INDEX)
    moved = scope.size + sum(prod(side.extent for side in source.ranges) for source in inputs)
    if points(scope) > MOST_REUSE * moved and not _visits_all(scope):
        return False
    if not usable():
        return False
    from einderive.eops.cpu_kernels.build import takes

    return takes(scope)


def _visits_all(scope: Scope) -> bool:
    """Whether no product of matrices computes the stage: it is no sum, or a function is asked at
    every point of the loops, as in comparisons of all pairs."""
    if scope.sums and scope.reducer != "sum":
        return True
    whole = sum(1 << i for i, extent in enumerate(scope.extents) if extent > 1)
    functions = (node for node in walk(scope.body) if isinstance(node, Apply))
    return any(not whole & ~node.free for node in functions)


def _may_run(task: Task) -> bool:
    """Whether loops may compute something of the stage here."""
    scope = task.scope
    if task.device != "cpu" or task.weights or not installed() or scope.empty:
        return False
    past = any(source not in task.reads for source in nested_scopes(scope))  # which are not there
    return depends_on_inputs(scope) and not past


def points(scope: Scope) -> int:
    """The points of the loops that compute the stage."""
    found = direct(scope)
    fixed = {} if found is None else found.fixed
    return prod(extent for i, extent in enumerate(scope.extents) if i not in fixed)


def by_loops(task: Task) -> Run | None:
    """The stage as loops of its own, if these may be faster than torch's operations."""
    if not task.compiled or not worth_compiling(task):
        return None
    if _adds_terms(task):
        from einderive.eops.cpu_kernels.scatter import by_loop

        return lower(task.scope, as_written=task.strict, put=by_loop)
    compute = _computed(Group.alone(task.scope), [task])
    return lambda buffers: compute(buffers)[0]


def _fuse(tasks: Sequence[Task], roots: Sequence[Scope]) -> Sequence[Fused]:
    """The groups of several stages that one kernel computes."""
    fusible = _compiled(tasks)
    if len(fusible) < 2:
        return ()
    return [
        Fused(
            group.stages,
            group.outputs,
            _computed(group, tasks),
            CPU_KERNELS.word,
        )
        for group in _groups(tasks, fusible, roots)
        if len(group.stages) > 1
    ]


def _compiled(tasks: Sequence[Task]) -> set[Scope]:
    return {task.scope for task in tasks if task.compiled and not task.alone and _fusible(task)}


def _groups(
    tasks: Sequence[Task], fusible: set[Scope], roots: Sequence[Scope]
) -> tuple[Group, ...]:
    from einderive.eops.loops.fuse import groups

    kept = {task.scope for task in tasks}
    reads = {task.scope: [s for s in task.reads if s in kept] for task in tasks}
    return groups(reads, fusible, roots)


def predicted(tasks: Sequence[Task], roots: Sequence[Scope]) -> tuple[float, set[Scope]]:
    """The predicted seconds of the kernels that compute the program's stages, and these stages."""
    from einderive.eops.loops.fuse import predicted as predicted_of

    fusible = _compiled(tasks)
    found = [predicted_of(group) for group in _groups(tasks, fusible, roots)]
    return sum(seconds or 0.0 for seconds in found), fusible


def estimated(task: Task) -> float | None:
    """About how many seconds the stage takes as a part of a kernel; None where it is part of none.
    A value is computed again in each step of the loops down to the innermost one that occurs in
    it.  What the kernel reads and writes counts with other stages, or not at all."""
    from einderive.eops.loops.cost import CALL, DIVISION, LAUNCH, OPERATION, SIMPLE

    if not task.compiled or task.alone or not _fusible(task):
        return None
    extents, found = task.scope.extents, 0.0
    for node in walk(task.scope.body):
        steps = prod(extents[: node.free.bit_length()])
        if isinstance(node, Apply):
            found += steps * (1.0 if node.function in SIMPLE else CALL)
        elif isinstance(node, Power):
            found += steps * (DIVISION if node.exponent < 0 else 1.0)
        else:
            found += steps
    return PART * LAUNCH + OPERATION * (found + bool(task.scope.sums) * points(task.scope))


def _computed(group: Group, tasks: Sequence[Task]) -> Compute:
    """The tensors of a group's outputs, of these tasks of one program: by one kernel where it has
    all their types, else stage by stage."""
    read = group.operands
    known: dict[object, Kernel] = {}
    strict = any(task.strict for task in tasks)
    open_sizes = any(task.open_sizes for task in tasks)
    wide = any(task.wide for task in tasks)
    beside = [getattr(torch, dtype) for dtype in tasks[0].inputs]

    def kernel_for(*tensors: torch.Tensor) -> Kernel | None:
        from einderive.eops.cpu_kernels.build import build
        from einderive.eops.cpu_kernels.typing import typing_of

        typing = typing_of(group, [tensor.dtype for tensor in tensors], beside, wide=wide)
        if typing is None:
            return None
        return build(group, tuple(tensor.stride() for tensor in tensors), typing, open_sizes)

    def compute(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        tensors = tuple([tensor.resolve_neg() for tensor in tensors])  # perhaps of other strides
        key = tuple([(tensor.dtype, tensor.stride()) for tensor in tensors])
        kernel = known.get(key)
        if kernel is None:
            kernel = kernel_for(*tensors)
            if kernel is None:
                return _stage_by_stage(group, dict(zip(read, tensors, strict=True)), strict)
            known[key] = kernel
        return kernel(*tensors)

    call = opaque(compute, kernel_for)
    return lambda buffers: call(*[buffers[source] for source in read])


def _stage_by_stage(
    group: Group, buffers: Mapping[Source, torch.Tensor], strict: bool
) -> tuple[torch.Tensor, ...]:
    held: dict[Any, torch.Tensor] = dict(buffers)
    for stage in group.stages:
        held[stage] = _otherwise(stage, strict)(held)
    return tuple(held[output] for output in group.outputs)


@lru_cache(maxsize=256)
def _otherwise(stage: Scope, strict: bool) -> Run:
    return lower(stage, as_written=strict)


def tell_loops(stages: Sequence[Scope], outputs: Sequence[Scope], types: Types) -> Sequence[Told]:
    from einderive.eops.cpu_kernels.told import told

    (first, *others) = stages
    if not others and first.sums and scattered(first) is not None and one_term(first) is None:
        return ()  # a loop over its terms, which has no plan
    found = told(Group(tuple(stages), tuple(outputs)), types)
    return () if found is None else (found,)


CPU_KERNELS = BackEnd(by_loops, "eOperator (compiled loops)", _fuse, tell_loops)
