"""Stages as generated Triton kernels, on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch

from einderive.eops.back_ends.task import BackEnd, Fused, Run, Task, Types
from einderive.eops.library.elementwise import ELEMENTWISE
from einderive.eops.library.reduction import REDUCTION
from einderive.eops.loops.drafts.group import Group
from einderive.eops.told import Told
from einderive.eops.torch_views.positions import Positions, placed
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import depends_on_inputs, is_imaginary
from einderive.ta.exact.direct import direct
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes

PLAIN: Final = ("", ELEMENTWISE.name, REDUCTION.name)
"""Operators whose stages may become one kernel with others ("" is none): their calls write every
intermediate result to memory."""

LAUNCH: Final = 4e-6
"""Seconds for the launch of a kernel."""
MOST_PARTS: Final = 4
"""Rows that could be divided into this many parts leave most of a GPU idle."""


def _lower(task: Task) -> Run | None:
    return triton_stage(task.scope, open_beyond=open_beyond(task)) if may_run(task) else None


def may_run(task: Task) -> bool:
    """Whether a kernel may compute the stage by itself."""
    if task.device != "cuda" or not depends_on_inputs(task.scope):
        return False  # without inputs, the result has the program's type
    if is_imaginary(task.scope):
        return False  # kernels have no complex numbers
    # of a gather or a scatter, a kernel would visit every term
    return direct(task.scope) is None


def triton_stage(scope: Scope, *, open_beyond: int = 0) -> Run:
    """The stage as a generated kernel, for each tuple of element types that it meets; its
    arguments are the numbers beyond `open_beyond`, which may be sizes, if this is not 0."""
    from einderive.eops.triton_kernels.launch import (
        launcher,  # Triton is needed only where a GPU is
    )
    from einderive.eops.triton_kernels.plan import operands

    positions = Positions(scope)
    read = operands(positions.scope, open_beyond=open_beyond)
    launch = launcher(positions.scope, open_beyond=open_beyond)

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        held = positions.beside(buffers)
        return launch(*[held[source] for source in read])

    return run


def open_beyond(task: Task) -> int:
    """Numbers beyond this may be sizes that have names, or depend on one; 0: no size has a name."""
    from einderive.eops.triton_kernels.sizes.numbers import least_size

    return least_size(task.sizes) if task.open_sizes else 0


def _fusible(task: Task) -> bool:
    """Whether one kernel may compute the stage and others over the same rows."""
    if task.scope.empty:
        return False
    return (task.compiled or task.operator in PLAIN) and may_compute(task)


def may_compute(task: Task) -> bool:
    """Whether a kernel may compute the stage, from what the task reads alone."""
    past = any(source not in task.reads for source in nested_scopes(task.scope))
    return may_run(task) and not (task.weights or past)


def _gathers(task: Task, roots: Sequence[Scope]) -> bool:
    """Whether a product may compute the stage where it reads it."""
    from einderive.eops.triton_kernels.gathers.reads import is_gather

    past = any(source not in task.reads for source in nested_scopes(task.scope))
    whole = depends_on_inputs(task.scope) and not is_imaginary(task.scope)
    passed = past or task.weights or task.scope in roots
    return task.device == "cuda" and whole and not passed and is_gather(task.scope)


def _fuse(tasks: Sequence[Task], roots: Sequence[Scope]) -> Sequence[Fused]:
    """The groups of several stages that one kernel computes: those over the same rows, and a
    product with what comes before and after it."""
    fusible = {task.scope for task in tasks if _fusible(task)}
    gathers = [task.scope for task in tasks if _gathers(task, roots)]
    if not fusible or len(fusible) + len(gathers) < 2:
        return ()
    from einderive.eops.loops.fuse import groups
    from einderive.eops.triton_kernels.plan import default_dtype
    from einderive.eops.triton_kernels.products import with_gathers

    kept = {task.scope for task in tasks}
    reads = {task.scope: [s for s in task.reads if s in kept] for task in tasks}

    def kept_together(group: Group) -> bool:
        return _is_worth(group, tuple(map(default_dtype, group.operands)))

    parts: dict[Group, None] = {}
    for group in groups(reads, fusible, roots, LAUNCH):
        whole = len(group.stages) == 1 or kept_together(group)
        parts |= dict.fromkeys([group] if whole else map(Group.alone, group.stages))
    beyond = open_beyond(tasks[0]) if tasks else 0
    several = (g for g in with_gathers(parts, reads, gathers) if len(g.stages) > 1)
    return [
        Fused(group.stages, group.outputs, _computed(group, beyond), TRITON.word)
        for group in _complete([*filter(kept_together, several)], reads, kept_together)
    ]


def _complete(
    found: list[Group], reads: Mapping[Scope, Sequence[Scope]], together: Callable[[Group], bool]
) -> list[Group]:
    """The groups, which also write what stages read that are in none of them: each of several
    groups may compute a stage, and one of these groups be left out."""
    while True:
        written = {stage for group in found for stage in group.outputs}
        inside = [{*group.stages} for group in found]
        missing = next(
            (
                (group, stage)
                for group in found
                for stage in group.stages
                for reader, read in reads.items()
                if stage in read and stage not in written
                if not any({stage, reader} <= stages for stages in inside)
            ),
            None,
        )
        if missing is None:
            return found
        group, stage = missing
        outputs = {*group.outputs, stage}
        wider = Group(group.stages, tuple(one for one in group.stages if one in outputs))
        found = [one for one in found if one is not group] + [wider] * together(wider)


def gathered_within(tasks: Sequence[Task], roots: Sequence[Scope]) -> set[Scope]:
    """The gathers that products compute where they read them."""
    within = {stage for one in _fuse(tasks, roots) for stage in one.stages}
    return within & {task.scope for task in tasks if _gathers(task, roots)}


def multiplies_tiles(stage: Scope) -> bool:
    """Whether a kernel computes the stage as a product of tiles, about as fast as a library."""
    from einderive.eops.triton_kernels.contraction import contraction

    return contraction(stage) is not None


def _is_worth(group: Group, types: tuple[str, ...]) -> bool:
    """Whether one kernel is as fast as a kernel for each stage.  It is not if only these multiply
    tiles, or if only these divide long rows among all of a GPU."""
    from einderive.eops.triton_kernels.products import holds_product, product_plan
    from einderive.eops.triton_kernels.rows import row_plan
    from einderive.eops.triton_kernels.split import parts

    if holds_product(group):
        return product_plan(group, types) is not None
    found = row_plan(group, types)
    if found is None:
        return False
    return found.whole or any(parts(stage) < MOST_PARTS for stage in group.reductions)


def _computed(
    group: Group, open_beyond: int
) -> Callable[[Mapping[Any, torch.Tensor]], tuple[torch.Tensor, ...]]:
    """The outputs of the group, for each tuple of element types that it meets."""
    from einderive.eops.triton_kernels.launch import group_launcher

    def one_by_one(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        held: dict[Any, torch.Tensor] = dict(zip(group.operands, tensors, strict=True))
        for stage in group.stages:
            known = direct(stage) is not None
            run = lower(stage) if known else triton_stage(stage, open_beyond=open_beyond)
            held[stage] = run(held)
        return tuple(held[output] for output in group.outputs)

    launch = group_launcher(group, one_by_one, open_beyond=open_beyond)
    return lambda buffers: launch(*[buffers[source] for source in group.operands])


def tell_kernels(stages: Sequence[Scope], outputs: Sequence[Scope], types: Types) -> Sequence[Told]:
    """The kernels of the stages as text: one for all, or one for each."""
    from einderive.eops.triton_kernels.told import told_group, told_stage

    if len(stages) > 1:
        found = told_group(Group(tuple(stages), tuple(outputs)), types)
        if found is not None:
            return (found,)
    return tuple(one for stage in stages for one in told_stage(stage, placed(stage), types))


TRITON = BackEnd(_lower, "eOperator (Triton)", _fuse, tell_kernels)
