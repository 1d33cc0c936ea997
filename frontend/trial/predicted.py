"""The program that is predicted to be the fastest, checked against the formula and not timed.

A candidate is taken if it is predicted to take at most `MARGIN` of the formula's own time, has no
step that can cancel, and consists of calls of torch; else the plain program with the least work;
where all of these are refused, the candidate with its exponentials about their maximum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.accuracy.levels import cancelling
from einderive.frontend.baselines.rival import rivals
from einderive.frontend.derived import Derived
from einderive.frontend.timed.steady import MARGIN
from einderive.frontend.trial.entrants import Entrant, Judge, candidate, run_first
from einderive.frontend.trial.hard import checked, tried_hard
from einderive.frontend.trial.shifted import Shifted


def predicted(
    derivation: Derived, judge: Judge, hard: HardCases, shifted: Shifted
) -> list[Entrant]:
    """The programs that were looked at; the last one is right, if one is."""
    found: list[Entrant] = []
    hard.lines = lambda: shifted.after(_plain(judge))
    for number, plan in islice(_promising(derivation, judge), judge.effort.tried):
        entrant = candidate(f"candidate {number}", plan, judge, always=True)
        if entrant.run is not None:
            entrant = tried_hard(entrant, hard, derivation)
        if entrant.run is not None:
            entrant = checked(entrant, derivation, judge)
        found.append(entrant)
        if entrant.run is not None:
            return found
    for entrant in _plain(judge):
        if entrant.run is not None:
            entrant = judge.judged(entrant)
        if entrant.run is not None:
            entrant = tried_hard(entrant, hard, derivation)
        found.append(entrant)
        if entrant.run is not None:
            return found
    last = shifted.tried(hard)
    return found if last is None else [*found, last]


def _plain(judge: Judge) -> Iterator[Entrant]:
    """The plain programs after their first runs, those with the least work first."""
    plain = rivals(judge.program, judge.device, judge.strict)
    for rival in sorted(plain, key=lambda one: one.work):
        yield run_first(rival, "baseline", judge)


def _promising(derivation: Derived, judge: Judge) -> Iterator[tuple[int, Plan]]:
    """Candidates with their numbers, in the order of their predicted times."""
    for number, plan in enumerate(derivation.candidates, 1):
        faster = plan.seconds <= MARGIN * derivation.unchanged.seconds
        kernels = judge.device == "cuda" and any(stage.operator is None for stage in plan.stages)
        if faster and not kernels and not cancelling(plan.steps):
            yield number, plan
