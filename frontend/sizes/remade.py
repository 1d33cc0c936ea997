"""The program that was chosen at one size, put together for another size.

    the plan at b = 16  ->  the same rules, choices and operators at b = 20, checked and judged

There is no search and no race: what was fastest at the first size is taken.  A derived program is
derived again (`derivations.search.again`), and the checker shows it to be equal to the formula at
the new size; a plain program is written again.  Either is compared with the formula in float64, as
all programs are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from time import perf_counter

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.search.again import again
from einderive.derivations.search.extract import Plan, unchanged
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.baselines.rival import executable as plain_executable
from einderive.frontend.baselines.rival import one_by_one, rewritten
from einderive.frontend.baselines.stage_by_stage import stage_by_stage
from einderive.frontend.call.caller import Caller
from einderive.frontend.derived import Derived
from einderive.frontend.limits.asked import ANY, Limits
from einderive.frontend.limits.memory import require_memory
from einderive.frontend.limits.work import require_work
from einderive.frontend.machine.empty_graph import empty_graph
from einderive.frontend.machine.stored import profile_of
from einderive.frontend.running.execute import Executable, executable
from einderive.frontend.running.settings import undisturbed
from einderive.frontend.strict import operators_for
from einderive.frontend.timed.timing import first
from einderive.frontend.timed.trial import Trial, in_float64, in_loops
from einderive.frontend.trial.entrants import Entrant, links
from einderive.frontend.trial.hard import judge_of
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.ir.program import Program

_NUMBER = re.compile(r"\d+")


@undisturbed()
def remade(
    known: Outcome,
    program: Program,
    rules: Mapping[str, Rule | JointRule],
    *,
    checked: bool = True,
    limits: Limits = ANY,
) -> Outcome | None:
    """The program chosen in `known`, for the same formula at other sizes.  None where its
    derivation does not hold there, or its results are not accepted.

    `rules` are those that the search was allowed, by name; `checked`: each call checks the
    assumptions that its steps used; it has to satisfy `limits` here too.  Raises BuildError if the
    formula is too large."""
    require_memory(program, known.device)
    require_work(program)
    plan = _plan(known, program, rules)
    if plan is None and known.chosen.plan is not None:
        return None
    derivation = _derivation(known.derivation, program, plan)
    if plan is not None and not derivation.check_plan(plan):
        return None
    judge = judge_of(derivation, known.device, perf_counter(), checked=checked, limits=limits)
    try:
        run = _run(known, program, plan, checked=checked, timed=not limits.deterministic)
        if run is None:
            return None
        trial = Trial(known.chosen.label, plan, run.words, inf, inf, known.chosen.verdict)
        found = judge.judged(Entrant(trial, run))
        if found.run is None:
            return None
        call = partial(Caller(program, run, known.device), *judge.operands)
        seconds = first(call, known.device == "cuda")
        linked, _ = links(found, judge)
    except Exception:  # numba's own errors are no subclasses of any that torch raises
        return None
    trial = replace(found.trial, seconds=seconds)
    return Outcome(
        derivation, run, (trial,), trial, known.device, output=known.output, linked=linked
    )


def _plan(known: Outcome, program: Program, rules: Mapping[str, Rule | JointRule]) -> Plan | None:
    derivation, plan = known.derivation, known.chosen.plan
    if plan is None:
        return None
    return again(
        plan,
        derivation.source.roots(),
        program.roots(),
        operators_for(derivation.nan, derivation.target),
        profile_of(derivation.target),
        rules,
        frozenset(derivation.weights),
    )


def _derivation(known: Derived, program: Program, plan: Plan | None) -> Derived:
    given = unchanged(empty_graph(known, program.roots()), program.roots())
    plans = (given,) if plan is None else (plan,)
    return replace(known, source=program, candidates=plans, unchanged=given, stated=())


def _run(
    known: Outcome, program: Program, plan: Plan | None, *, checked: bool, timed: bool
) -> Executable | None:
    strict = known.derivation.nan == "strict"
    types, device, chosen = output_types(program), known.device, known.chosen
    if plan is not None:
        return executable(
            plan,
            device,
            types,
            strict=strict,
            compiled=in_loops(chosen.label),
            wide=in_float64(chosen.label),
            open_sizes=True,
            sizes=program.sizes.values(),
            checked=checked,
            timed=timed,
        )
    if chosen.text:
        wanted = chosen.words, _NUMBER.sub("_", chosen.text)
        for rival in one_by_one(program, device, strict):
            if (rival.words, _NUMBER.sub("_", rival.text)) == wanted:
                return plain_executable(rival, program, types)
        # the order of a product of several factors is another one, say: the text as it was; where
        # it names a size, its results are refused
        same = rewritten(chosen.words, chosen.text, program)
        return None if same is None else plain_executable(same, program, types)
    for run in (
        stage_by_stage(program, types, strict=strict, device=device),
        as_written(program, types),
    ):
        if run.words == chosen.words:
            return run
    return None
