"""Races whose outcome is given, so that no test depends on the machine's pace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from einderive.frontend.machine.extraction import UNKNOWN
from einderive.frontend.timed.timing import Timing
from einderive.frontend.trial.entrants import Entrant, Judge


def nobody_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is left out for its time."""
    monkeypatch.setattr(Judge, "far_behind", lambda *_: False)
    monkeypatch.setattr(Judge, "late", False)
    monkeypatch.setattr(Judge, "left", math.inf)


def candidates_win(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every candidate is faster than every plain program, the first one the most.  No stage is
    measured, so the candidates have the order of their predicted times."""

    def raced(entrants: Sequence[Entrant], *_: Any) -> tuple[list[Entrant], bool]:
        found = []
        for place, entrant in enumerate(entrants):
            if entrant.run is not None:
                seconds = 1e-3 + 1e-6 * place if entrant.plain else 1e-6 * (place + 1)
                trial = replace(entrant.trial, seconds=seconds)
                timing = Timing(seconds, 0.0, (seconds,) * 4)
                entrant = replace(entrant, trial=trial, timing=timing)
            found.append(entrant)
        return found, False

    nobody_is_slow(monkeypatch)
    monkeypatch.setattr(
        "einderive.frontend.trial.choose._extracted", lambda derivation, *_: (derivation, UNKNOWN)
    )
    monkeypatch.setattr("einderive.frontend.trial.choose.raced", raced)
    monkeypatch.setattr("einderive.frontend.trial.winner.wins_again", lambda *_: True)
