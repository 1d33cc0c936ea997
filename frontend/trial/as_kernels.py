"""The formula as given in generated kernels alone, on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from einderive.derivations.matching.cost import eoperator_work
from einderive.derivations.matching.machine import KERNEL
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import default_item_bytes
from einderive.eops.back_ends.asked_kernels import takes
from einderive.eops.back_ends.triton import gathered_within, multiplies_tiles
from einderive.frontend.derived import Derived
from einderive.frontend.machine.stored import profile_of
from einderive.frontend.running.execute import tasks_of
from einderive.frontend.timed.trial import AS_GIVEN
from einderive.frontend.trial.compiling import apart
from einderive.frontend.trial.entrants import PROBLEMS, Entrant, Judge

HOPELESS = 3.0
"""The formula is not compiled into kernels that are predicted to take this many times the fastest
program's time."""


def worth_generating(
    derivation: Derived, entrants: Sequence[Entrant], judge: Judge
) -> Iterator[tuple[str, Plan]]:
    """The formula as given with its label, where its kernels differ from those of all programs that
    were tried and are not predicted to be far behind."""
    if judge.device == "cpu" or not judge.effort.compiled:
        return
    given = apart(derivation.unchanged)
    fastest = min((each.seconds for each in entrants if each.run is not None), default=inf)
    if kernel_seconds(given, derivation.target) > HOPELESS * fastest:
        return
    try:
        words = judge.built(given, compiled=True).words
    except (*PROBLEMS, ImportError):
        return  # without Triton, say
    if not any(_is(entrant, given, words) for entrant in entrants):
        yield AS_GIVEN, given


def _is(entrant: Entrant, given: Plan, words: tuple[str, ...]) -> bool:
    trial = entrant.trial
    return trial.plan is not None and trial.plan.roots == given.roots and trial.words == words


def kernel_seconds(plan: Plan, target: str) -> float:
    """The predicted seconds of the program in which kernels compute all stages that they can: a
    product of tiles at the rate of its operator, without a gather that it computes itself."""
    machine, item = profile_of(target), default_item_bytes(plan.roots)
    tasks = tasks_of(plan.stages, "cuda", compiled=True)
    within = gathered_within(tasks, plan.roots)
    seconds = 0.0
    for stage, task in zip(plan.stages, tasks, strict=True):
        if stage.scope in within:
            continue
        if takes(task) and stage.operator is not None and not multiplies_tiles(stage.scope):
            work = eoperator_work(stage.scope, item, machine.fused)
            seconds += machine.seconds(work, item, KERNEL)
        else:
            seconds += stage.seconds
    return seconds
