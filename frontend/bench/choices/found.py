"""The programs that a long search finds for a formula, kept to be timed later.

    found  =  what effort="high" tries,  and 20 programs drawn at random from its search's graph

All are built, judged and timed, also with their stages compiled into loops.  What effort="high"
chose is kept, and those that are near the fastest one and right on hard inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from time import perf_counter
from typing import Any, Final

from einderive.derivations.search.drawn import drawn
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.strategy import Budget
from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.api.compiled import CompiledFunction, Derivation
from einderive.frontend.api.optimize import derive
from einderive.frontend.api.record import recalled
from einderive.frontend.bench.choices.asked import PROBLEMS, asked
from einderive.frontend.compile.remembered import (
    UNREADABLE,
    Request,
    run_of,
    trial_of,
    trials_data,
)
from einderive.frontend.formulas import Formula
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial.choose import choose
from einderive.frontend.trial.effort import EFFORTS, Effort
from einderive.frontend.trial.entrants import Entrant
from einderive.frontend.trial.hard import judge_of, tried_hard
from einderive.frontend.trial.shifted import Shifted
from einderive.ta.ir.program import Program

HIGH: Final = EFFORTS["high"]
DRAWN: Final = 20
DRAWING_SECONDS: Final = 10.0
ONE_BY_ONE: Final = Effort(0.0, 3.0, 60.0, 60.0, HIGH.preparing, 0.0, tried=DRAWN, compiled=DRAWN)
"""Each program that was drawn is built, judged and timed."""
NEAR, MOST = 1.5, 12
"""At most this many programs are kept, of those that take at most this many times the fastest one's
time in their race."""


@dataclass(frozen=True, slots=True)
class Found:
    """The programs of a formula at a size: the record of a derivation, and trials of its candidates
    and of plain programs; the first is what effort="high" chose.  `tried` counts all that were
    right, and `drawn` those of these that were drawn.  `failed` says why there are none."""

    formula: str
    size: int
    tried: int = 0
    drawn: int = 0
    record: dict[str, Any] | None = None
    trials: tuple[dict[str, Any], ...] = ()
    failed: str = ""


def find(formula: Formula, size: int) -> Found:
    """Takes about a minute."""
    try:
        program = asked(formula, size).program
        derivation = derive(program, target="cpu", budget=HIGH.search)
        high = derivation.compile(effort="high", remember=False)
        more = _drawn(derivation)
        right = [*_right(high.trials), *_right(more)]
        kept = [high.chosen, *(trial for trial in _near(high.trials, more))]
        union = _with(derivation, [trial.plan for trial in kept if trial.plan is not None])
        kept = [kept[0], *_right_on_hard_inputs(_distinct(kept)[1:], union, derivation)]
        plans = [trial.plan for trial in kept if trial.plan is not None]
        union = _with(derivation, plans)
    except PROBLEMS as problem:
        return Found(formula.name, size, failed=str(problem).splitlines()[0])
    return Found(
        formula.name,
        size,
        len(right),
        len(_right(more)),
        union.data(),
        tuple(trials_data(kept, union.candidates)),
    )


def built(found: Found, program: Program) -> Iterator[CompiledFunction]:
    """The functions of the programs, the first of which is that of effort="high"."""
    assert found.record is not None
    derivation = recalled(found.record, program, {})
    trials = [trial_of(data, derivation) for data in found.trials]
    for trial in trials:
        run = run_of(trial, derivation, _request(program))
        yield CompiledFunction(
            derivation=derivation, run=run, trials=trials, chosen=trial, device="cpu"
        )


def _request(program: Program) -> Request:
    return Request(program, "cpu", (), (), "normwise", "ignore", Budget())


def _drawn(derivation: Derivation) -> Sequence[Trial]:
    """The trials of programs that were drawn, none of which is left out for its prediction."""
    graph = derivation.graph
    assert graph is not None
    plans = drawn(graph, derivation.source.roots(), DRAWN, len(graph.stages), DRAWING_SECONDS)
    level = tuple(replace(plan, seconds=1.0) for plan in plans)
    found = choose(replace(derivation, candidates=level), effort=ONE_BY_ONE).trials
    return [replace(trial, label=f"drawn {trial.label}") for trial in found if trial.plan]


def _right(trials: Sequence[Trial]) -> list[Trial]:
    return [t for t in trials if t.verdict in ("accepted", "baseline") and isfinite(t.seconds)]


def _near(*races: Sequence[Trial]) -> list[Trial]:
    """The programs near the fastest one, the nearest first."""
    right = [trial for trials in races for trial in _right(trials)]
    least = min(trial.seconds for trial in right)
    near = [trial for trial in right if trial.seconds <= NEAR * least]
    return sorted(near, key=lambda trial: trial.seconds)[:MOST]


def _distinct(trials: Sequence[Trial]) -> list[Trial]:
    found = {
        (trial.words, trial.text, trial.plan.kernels if trial.plan else None): trial
        for trial in reversed(trials)
    }
    return [*reversed(found.values())]


def _with(derivation: Derivation, plans: Sequence[Plan]) -> Derivation:
    """The derivation with these candidates; with the formula itself where there are none, as a
    record needs one."""
    distinct = tuple({id(plan): plan for plan in plans}.values())
    return replace(derivation, candidates=distinct or (derivation.unchanged,))


def _right_on_hard_inputs(
    trials: Sequence[Trial], derivation: Derivation, searched: Derivation
) -> Iterator[Trial]:
    """The trials of this derivation that are right; `searched` may have another candidate that is a
    standard."""
    program, found = derivation.source, list[Entrant]()
    for trial in trials:
        with suppress(*UNREADABLE):
            run = run_of(trial, derivation, _request(program))
            found.append(Entrant(trial, run, plain=trial.plan is None))
    plain = [tested for tested in found if tested.plain]
    shifted = Shifted(searched, judge_of(searched, "cpu", perf_counter(), effort=HIGH))
    lines = partial(shifted.after, plain)
    kind = derivation.accuracy
    hard = HardCases(program, "cpu", kind, preparing=HIGH.preparing, lines=lines)
    for tested in found:
        if tested.trial.families or tried_hard(tested, hard, derivation).run is not None:
            yield tested.trial
