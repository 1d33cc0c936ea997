"""The plain program of any formula: stage by stage, and where that is not right, as written.

    Y[i] = log(sum[j](2*exp(X[i,j])))      t_0 = sum[j](2*exp(X[i,j]));  t_1 = log(t_0)

It takes long beside a line of torch, so it enters where no other program is right.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf, isfinite

from einderive.frontend.accuracy.written import as_written
from einderive.frontend.baselines.stage_by_stage import stage_by_stage
from einderive.frontend.timed.timing import first
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial.entrants import Entrant, Judge
from einderive.ta.errors import BuildError
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import points_of
from einderive.ta.printing.show import show_program

MOST_POINTS = 30_000_000
"""A program that visits more points takes a second and more as written."""


def is_long(program: Program) -> bool:
    """Whether the program as written takes seconds: it is then run where nothing else is right."""
    return points_of(*program.roots()) > MOST_POINTS


def general(judge: Judge) -> Entrant:
    """The program, judged on random inputs and run once; out of the race where it is not right."""
    made = None
    program, types = judge.program, judge.expected.types
    for run in (
        stage_by_stage(program, types, strict=judge.strict, device=judge.device),
        as_written(program, types),
    ):
        call = partial(run, judge.expected.inputs)
        trial = Trial("baseline", None, run.words, inf, inf, "baseline")
        made = judge.judged(Entrant(trial, run, call, plain=True))
        if made.run is not None:
            seconds = first(call, judge.device == "cuda")
            return replace(made, trial=replace(made.trial, seconds=seconds))
    assert made is not None
    if judge.limits and made.trial.verdict.startswith("left out"):
        return made
    if judge.odd:
        raise BuildError(
            f"no program for {show_program(program)} has NaN and infinity where the formula "
            "has them",
            next_step='compile with nan="ignore", which guarantees nothing about them',
        )
    if isfinite(made.trial.error):  # no digit is right, and none could be
        run = as_written(program, types)
        trial = replace(made.trial, verdict="baseline")
        return Entrant(trial, run, partial(run, judge.expected.inputs), plain=True)
    return made
