"""The candidates that are built and judged, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Final

from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.levels import cancelling
from einderive.frontend.derived import Derived
from einderive.frontend.machine.extraction import UNKNOWN
from einderive.frontend.trial.compiling import apart
from einderive.frontend.trial.entrants import Entrant, Judge

SAFE, SAFE_FIRST = 2, 1.25
"""Candidates without steps that can cancel are tried first if they take at most this many times the
best one's time; this many are tried in any case."""
HOPELESS_PREDICTION = 30.0
"""Candidates predicted to take this many times the best one's time are not built."""
FAR: Final = 8.0
"""The formula as given is predicted to be far behind at this many times the best one's time."""
PROMISING: Final = 0.5
"""A candidate is promising if it is predicted to take less than this part of a program's time."""
LEVEL: Final = 1.25
"""Of candidates that are wholly measured, those within this many times the fastest one's time come
first: they take other stages together, and the whole may be faster than the sum."""


def worth_trying(
    derivation: Derived,
    baseline_words: set[tuple[str, ...]],
    tried: int,
    measured: Mapping[int, float] = UNKNOWN,
) -> list[tuple[int, Plan]]:
    """Candidates with their numbers, without the baselines themselves and what is predicted to
    take many times longer than the best one.  Where all of those have a step that can cancel and
    may be refused for it, the best of the others as well.

    `measured` are the seconds of candidates whose stages are all measured, by their places.  The
    best of these come first, then those that are not measured, then the slower ones."""
    places = range(len(derivation.candidates))
    seconds = [measured.get(place, derivation.candidates[place].seconds) for place in places]
    level = LEVEL * min(measured.values(), default=0.0)

    def turn(place: int) -> tuple[int, float]:
        if place not in measured:
            return 1, 0.0
        return (0 if measured[place] <= level else 2), measured[place]

    best = min(seconds, default=0.0)
    found = []
    for place in sorted(places, key=turn):
        plan = derivation.candidates[place]
        operators = tuple(stage.operator or "" for stage in plan.stages)
        same = plan.roots == derivation.source.roots() and operators in baseline_words
        if not same:
            found.append((place + 1, plan))
    near = [one for one in found if seconds[one[0] - 1] <= HOPELESS_PREDICTION * best]
    if derivation.accuracy != "normwise":
        return near[:tried]
    safe = [one for one in found if not cancelling(one[1].steps)]

    def later(one: tuple[int, Plan]) -> bool:
        far = seconds[one[0] - 1] > SAFE_FIRST * best and turn(one[0] - 1)[0] > 0
        return far or one not in safe

    near.sort(key=later)
    if any(one in safe for one in near[:tried]):
        return near[:tried]
    return (near[:tried] + safe[:SAFE])[: max(tried, 0) and tried + SAFE]


def by_library(derivation: Derived, trying: Sequence[tuple[int, Plan]]) -> Plan | None:
    """The formula as given, where operators compute all of its stages, and it is none of those that
    are tried, nor predicted to take far longer.  Its operators keep digits that lines of torch
    lose."""
    given = apart(derivation.unchanged)
    best = min((plan.seconds for _, plan in trying), default=inf)
    if given.seconds > FAR * best or not all(stage.operator for stage in given.stages):
        return None
    return None if any(plan.roots == given.roots for _, plan in trying) else given


def sure(trying: Sequence[tuple[int, Plan]], fastest: float) -> set[int]:
    """The numbers of the candidates that are tried also where little time is left: the first one,
    and the first without steps that can cancel, as the other one may be refused for these, if it is
    predicted to take a smaller part of the fastest plain program's seconds."""
    safe = [(number, plan) for number, plan in trying if not cancelling(plan.steps)]
    near = [number for number, plan in safe[:1] if plan.seconds < PROMISING * fastest]
    return {*near, *(number for number, _ in trying[:1])}


def refused_faster(plain: Sequence[Entrant], judge: Judge) -> bool:
    """Whether no plain program is right, or one that was faster than those that are is refused."""
    if not isfinite(judge.fastest):
        return True
    return any(entrant.run is None and entrant.seconds < judge.fastest for entrant in plain)
