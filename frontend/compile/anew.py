"""Compiling what no call has asked for in these words: read, recalled or derived, raced, kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

import torch

from einderive.derivations.search.progress import Progress
from einderive.derivations.search.strategy import Budget
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.examples import examples
from einderive.frontend.api.formula import Shape, program_of, type_names
from einderive.frontend.api.laws import law_names
from einderive.frontend.api.optimize import (
    constant_names,
    default_target,
    derive,
    limits,
    target_of,
)
from einderive.frontend.compile.direct import key_of
from einderive.frontend.compile.options import Options
from einderive.frontend.compile.remembered import (
    Request,
    recall,
    recall_derivation,
    remember_choice,
    remember_words,
)
from einderive.frontend.limits.asked import limits_of
from einderive.frontend.machine.first_use import measure_first
from einderive.frontend.memory.kept import keeps
from einderive.frontend.trial.effort import NORMAL, Given, effort_of
from einderive.ta.ir.dtypes import checked_dtype
from einderive.ta.ir.program import Program

LASTING = ("budget", "effort", "seconds", "check_assumptions", "memory", "deterministic")
"""The options that hold for related programs too, such as gradients."""
SEARCH = Budget(seconds=NORMAL.search)
"""The budget of `compile`, which should end in seconds."""


def compiled(
    formula: str | Program,
    shapes: Mapping[str, Shape | int],
    options: Options,
    progress: Callable[[Progress], object] | None,
    baseline: Callable[..., Any] | None,
    remember: bool,
    key: str | None,
) -> CompiledFunction:
    """The function for a call of `compile`.  `remember`: it may be recalled, and is kept, under the
    call's own `key` too, if it has one."""
    remembering = remember and baseline is None and keeps()  # a function is no key
    target = options.target
    chosen = examples(shapes).target or default_target() if target is None else target
    output = options.output
    output = None if output is None else checked_dtype(type_names(output))
    effort = effort_of(options.effort)
    search = SEARCH if effort == NORMAL else replace(SEARCH, seconds=effort.search)
    program = program_of(formula, shapes, options.dtypes, options.ranges, options.outputs)
    if remembering and effort.measured and target_of(chosen) == "cpu" and measure_first():
        key = key and key_of(formula, shapes, options)
    begun = perf_counter()
    request = Request(
        program,
        target_of(chosen),
        constant_names(program, options.weights),
        law_names(options.laws),
        options.accuracy,
        options.nan,
        limits(search if options.budget is None else options.budget),
        effort,
        options.seconds,
        options.check_assumptions,
        limits_of(options.memory, options.deterministic),
    )
    found = recall(request) if remembering else None
    if found is None:
        found = _measured(request, options, remembering, progress, baseline, begun)
    if key is not None and found.written is not None:
        remember_words(key, request, output)
    lasting = {name: getattr(options, name) for name in LASTING}
    lasting |= {"laws": request.laws, "remember": remember}
    converted = None if output is None else getattr(torch, output)
    return replace(found, output=converted, options=lasting)


def _measured(
    request: Request,
    options: Options,
    remembering: bool,
    progress: Callable[[Progress], object] | None,
    baseline: Callable[..., Any] | None,
    begun: float,
) -> CompiledFunction:
    known = recall_derivation(request) if remembering else None
    if known is not None:
        derivation = known.derivation
    else:
        derivation = derive(
            request.program,
            target=request.target,
            budget=request.budget,
            progress=progress,
            weights=request.weights,
            laws=request.laws,
            accuracy=request.accuracy,
            nan=request.nan,
        )
    effort = request.effort
    if options.budget is None:  # else its seconds come on top
        effort = effort.after(perf_counter() - begun)
    found = derivation.compile(
        effort=cast(Given, effort),  # users give words and numbers
        seconds=request.seconds,
        baseline=baseline,
        check_assumptions=request.check_assumptions,
        memory=request.limits.memory,
        deterministic=request.limits.deterministic,
        remember=remembering,
    )
    found = replace(found, derivation=replace(found.derivation, graph=None))  # which is large
    if remembering:
        remember_choice(request, found, "" if known is None else known.digest)
    return found
