"""A program on inputs for which programs lose digits."""

from __future__ import annotations

from dataclasses import replace

from einderive.frontend.accuracy.hard_cases import LEAST, LEAST_SAFE, HardCases
from einderive.frontend.derived import Derived
from einderive.frontend.trial.entrants import Entrant

HARD_SECONDS = 0.25
"""About how long the runs on hard inputs may take for each program that they are asked of; the
most telling one is always run."""


def tried_hard(entrant: Entrant, hard: HardCases, derivation: Derived) -> Entrant:
    """The entrant with its errors on hard inputs, refused if these bind."""
    assert entrant.run is not None
    if entrant.literal:
        return entrant
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
