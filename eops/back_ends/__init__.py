"""Back ends, one per file: each turns stages into functions.  A new one is one new file.

Not here: operators (`eops.library`), the code of kernels (`torch_views`, `triton_kernels`).
May be imported by `frontend`.
"""

from __future__ import annotations

from collections.abc import Sequence

from einderive.eops.back_ends.task import BackEnd, Fused, Run, Task, Types
from einderive.eops.told import Told
from einderive.ta.ir.node import Scope
from einderive.ta.listing import listed

BACK_ENDS: tuple[BackEnd, ...] = listed(
    __name__,
    BackEnd,
    first="kept_weights narrow_products window_products loops_or_library",
    last="half_precision library triton strided_views",
)
"""The back ends in the order in which they are asked.  The last one takes every stage."""


def lowered(task: Task) -> tuple[Run, str]:
    """The stage as a function of its buffers, and the word for the way in which it is computed."""
    for back_end in BACK_ENDS:
        run = back_end.lower(task)
        if run is not None:
            return run, back_end.word or task.operator
    raise AssertionError("no back end takes the stage")


def fused(tasks: Sequence[Task], roots: Sequence[Scope]) -> tuple[Fused, ...]:
    """The groups of stages that a back end computes together.  No stage is in two groups, and each
    group comes after those that it reads."""
    left = list(tasks)
    found: list[Fused] = []
    for back_end in BACK_ENDS:
        for one in back_end.fuse(left, roots) if back_end.fuse is not None else ():
            found.append(one)
            left = [task for task in left if task.scope not in one.stages]
    return tuple(found)


def told(tasks: Sequence[Task], roots: Sequence[Scope], types: Types) -> tuple[Told, ...]:
    """The kernels that are generated for the stages, as text; nothing is compiled."""
    found: list[Told] = []
    inside: set[Scope] = set()
    for one in fused(tasks, roots):
        back_end = next(each for each in BACK_ENDS if each.word == one.word)
        inside.update(one.stages)
        if back_end.tell is not None:
            found += back_end.tell(one.stages, one.outputs, types)
    for task in tasks:
        if task.scope not in inside:
            taking = next(each for each in BACK_ENDS if each.lower(task) is not None)
            if taking.tell is not None:
                found += taking.tell((task.scope,), (task.scope,), types)
    return tuple(found)
