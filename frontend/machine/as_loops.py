"""Which candidates are the fastest as compiled loops, as far as predictions say.

    as loops(program)  =  predicted seconds of its kernels  +  seconds of its other stages

A program that is slow stage by stage may be fast as loops: there a stage that is written and read
again costs next to nothing, and a value that is computed again costs what it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from einderive.derivations.search.extract import Plan
from einderive.eops.back_ends import narrow_products
from einderive.eops.back_ends.cpu_kernels import estimated, predicted
from einderive.frontend.running.execute import tasks_of


def as_loops(plan: Plan) -> float:
    """The predicted seconds of the program as compiled loops."""
    tasks = tasks_of(plan.stages, "cpu", compiled=True)
    seconds, inside = predicted(tasks, plan.roots)
    for stage, task in zip(plan.stages, tasks, strict=True):
        if stage.scope not in inside:
            seconds += narrow_products.predicted(task) or stage.seconds
    return seconds


def roughly(plan: Plan) -> float:
    """The same in a hundredth of the time: no stages are put together into kernels."""
    tasks = tasks_of(plan.stages, "cpu", compiled=True)
    return sum(
        estimated(task) or stage.seconds
        for stage, task in zip(plan.stages, tasks, strict=True)
        if stage.seconds
    )


def fastest_as_loops(plans: Sequence[Plan], seconds: float) -> list[tuple[float, Plan]]:
    """The programs with their predicted seconds, the fastest first: of many, those that are the
    fastest `roughly`, as many as are predicted in about this many `seconds`."""
    ends = perf_counter() + seconds
    found: list[tuple[float, Plan]] = []
    for plan in sorted(plans, key=roughly):
        if found and perf_counter() > ends:
            break
        found.append((as_loops(plan), plan))
    return sorted(found, key=lambda one: one[0])
