"""What a program has to pass: inputs and a reference; before it is handed back, hard inputs and
the checker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite
from typing import Any

from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.accept import Reference, reference
from einderive.frontend.accuracy.hard_cases import LEAST, LEAST_SAFE, HardCases
from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.accuracy.nonfinite_cases import nonfinite_cases
from einderive.frontend.accuracy.standard import in_part, standard_error
from einderive.frontend.derived import Derived
from einderive.frontend.running.execute import Executable
from einderive.frontend.trial.entrants import Entrant, Judge
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.program import Program

HARD_SECONDS = 0.25
"""About how long the runs on hard inputs may take for each program that they are asked of; the
most telling one is always run."""


def tried_hard(entrant: Entrant, hard: HardCases, derivation: Derived) -> Entrant:
    """The entrant with its errors on hard inputs, refused if these bind."""
    assert entrant.run is not None
    trial = entrant.trial
    most = max(1, int(HARD_SECONDS / (2 * trial.seconds + 1e-9)))
    small = trial.plan is None or bool(trial.cancelling)
    least = LEAST if trial.cancelling else LEAST_SAFE
    families = hard.errors(entrant.run, most, small=small, least=least)
    steps = hard.step_digits(trial.plan.steps if trial.plan is not None else (), families)
    trial = replace(trial, families=families, step_digits=steps)
    binding = derivation.accuracy != "fast" or not trial.cancelling
    failed = next((family for family in families if not family.accepted), None)
    entrant = replace(entrant, trial=trial)
    if binding and failed is not None:
        return entrant.out(f"refused: {failed.refusal}")
    return entrant


def right_ones(plain: Iterable[Entrant], judge: Judge) -> Iterator[Executable]:
    """The plain programs that are right on random inputs, in their order; each is judged when it is
    asked for, if it was not before."""
    for entrant in plain:
        if entrant.run is not None and not isfinite(entrant.trial.error):
            entrant = judge.judged(entrant)
        if entrant.run is not None:
            yield entrant.run


def checked(entrant: Entrant, derivation: Derived, judge: Judge) -> Entrant:
    """The candidate, refused where its derivation does not check.  Asked of the one alone that is
    to be handed back, or sets a standard, and once of each plan: a check takes about as long as the
    search."""
    plan = entrant.trial.plan
    assert plan is not None
    reason = next((reason for known, reason in judge.unsound if known is plan), None)
    if reason is None:
        reason = _unsound(plan, derivation)
        judge.unsound.append((plan, reason))
    return entrant.out(f"refused: {reason}") if reason else entrant


def _unsound(plan: Plan, derivation: Derived) -> str:
    """Why the derivation of the plan does not check; nothing where it does."""
    number = next((n for n, found in enumerate(derivation.candidates) if found is plan), None)
    try:
        report = derivation.check_plan(plan) if number is None else derivation.check(number)
    except EinderiveError as error:
        return str(error).splitlines()[0]
    failed = next((finding for finding in report.findings if not finding.ok), None)
    return "" if failed is None else f"{failed.what}: {failed.detail}"


SCALES = (1.0, 2.0**-3, 2.0**-6, 2.0**-9)
"""The scales of random inputs, one after the other."""


def judge_of(derivation: Derived, device: str, begun: float, **options: Any) -> Judge:
    """The judge of programs for a formula; `begun` is when `compile` began, and `options` are
    further fields of the judge."""
    program, strict = derivation.source, derivation.nan == "strict"
    expected, base = expected_of(program, device, derivation.accuracy)
    odd = nonfinite_cases(program, device) if strict else ()
    known = (program, expected, device, base, odd)
    return Judge(*known, begun=begun, strict=strict, **options)


def raise_standard(judge: Judge, plain: Iterable[Entrant]) -> None:
    """Where the formula as written was computed in part, the standard is at least the error of the
    most exact plain program: programs are judged by the largest error of all entries, and that of a
    few entries is less."""
    if in_part(judge.program, judge.expected):
        errors = [entrant.trial.error for entrant in plain if entrant.run is not None]
        judge.base = max(judge.base, min(filter(isfinite, errors), default=0.0))


def expected_of(program: Program, device: str, accuracy: Accuracy) -> tuple[Reference, float]:
    """The reference and the error of the formula as written: on standard normal numbers, on smaller
    ones where these overflow as written (the exponential of a long sum does)."""
    found = []
    for scale in SCALES:
        expected = reference(program, device, accuracy, scale)
        found.append((expected, standard_error(program, expected)))
        if isfinite(found[-1][1]) or not any(t.is_floating_point for t in expected.types):
            return found[-1]
    return found[0]
