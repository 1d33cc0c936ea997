"""The winner of a race: the plain program that stands, and the candidate that replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.derived import Derived
from einderive.frontend.timed.steady import MARGIN, Standing, in_order, is_level, merits
from einderive.frontend.timed.timing import UNTIMED, Timing
from einderive.frontend.timed.trial import in_loops
from einderive.frontend.trial.compiling import compiled_candidate
from einderive.frontend.trial.entrants import Entrant, Judge, candidate
from einderive.frontend.trial.hard import checked, tried_hard
from einderive.frontend.trial.races import CLOSE, SHORT, as_called, too_late, wins_again

CALL_AT_MOST = 3.0
"""A candidate that takes more than this many times a plain line's time does not win by the guard of
that line's call."""


def fastest_plain(
    entrants: list[Entrant], judge: Judge, hard: HardCases, derivation: Derived
) -> Entrant | None:
    """The fastest plain program that is accepted on hard inputs as well: a general one, which
    stands where there is no other, in any case.  Of those within noise of each other, the first in
    the list, where those with less work come first, unless calls are short and the fastest one
    beats it in a race of the two."""
    places = _running(entrants, plain=True)
    standings = [Standing(_timing(entrants[place]), (place,)) for place in places]
    order = _in_order(standings, [entrants[place] for place in places], judge)
    for number in order:
        place = places[number]
        if not entrants[place].trial.families and number != order[-1]:
            entrants[place] = tried_hard(entrants[place], hard, derivation)
        if entrants[place].run is not None:
            return entrants[place]
    return None


def fastest_candidate(
    entrants: list[Entrant],
    best: Entrant | None,
    judge: Judge,
    hard: HardCases,
    derivation: Derived,
) -> tuple[Entrant | None, bool]:
    """The fastest candidate that beats the fastest plain program and is accepted on hard inputs,
    and whether one was refused: then others may enter the race that were far behind it.  Of
    candidates within noise of each other, the first by their merits, as of plain programs."""
    places, bar = _faster(entrants, best, 0.0)
    if best is not None and _near(entrants, bar):
        best, dearer = as_called(best, judge)
        places, _ = _faster(entrants, best, dearer)
    refused = False
    standings = [
        Standing(_timing(entrants[place]), merits(entrants[place].trial, judge.base))
        for place in places
    ]
    for number in _in_order(standings, [entrants[place] for place in places], judge):
        place = places[number]
        if too_late(entrants[place], best, judge):
            continue
        entrant = tried_hard(entrants[place], hard, derivation)
        if entrant.run is not None:
            entrant = checked(entrant, derivation, judge)
        entrants[place] = entrant
        refused |= entrant.run is None
        if entrant.run is not None and wins_again(entrant, best, judge):
            return entrant, refused
    return None, refused


def _in_order(
    standings: Sequence[Standing], entrants: Sequence[Entrant], judge: Judge
) -> list[int]:
    """The places of the entrants, from the first choice to the last one.  Where calls are short,
    the fastest one comes before others within noise of it if it beats the first of them in a race
    of the two."""
    order = in_order(standings)
    if order and judge.left > 0:
        fastest = min(order, key=lambda number: standings[number].timing.seconds)
        own, first = entrants[fastest], entrants[order[0]]
        if own is not first and own.seconds < SHORT and wins_again(own, first, judge, won=False):
            order = [fastest, *(number for number in order if number != fastest)]
    return order


def is_over(entrants: Sequence[Entrant], best: Entrant | None, judge: Judge) -> bool:
    """Whether no time is left for another race, and no candidate that was not refused is known to
    take clearly less than the plain program: one may not have raced, as a refused one was far
    faster."""
    bar = inf if best is None else CLOSE * best.seconds
    known = any(e.seconds < bar for e in entrants if e.run is not None and not e.plain)
    return judge.left < 0 and not known


def _faster(
    entrants: Sequence[Entrant], best: Entrant | None, dearer: float
) -> tuple[list[int], Timing]:
    """The places of the candidates that beat the plain program that stands, whose call takes so
    many seconds more than its line, and the time that they had to beat."""
    bar = _bar(entrants, best).later(dearer)
    # not what did not race: its first run alone says little
    raced = [(place, entrants[place].timing) for place in _running(entrants, plain=False)]
    return [place for place, time in raced if time is not None and time.beats(bar, MARGIN)], bar


def _near(entrants: Sequence[Entrant], bar: Timing) -> bool:
    """Whether a candidate raced that may win or not by what a call costs beside its line."""
    raced = (entrants[place].timing for place in _running(entrants, plain=False))
    return any(time is not None and CALL_AT_MOST * bar.seconds >= time.seconds for time in raced)


def first_right(
    entrants: list[Entrant], judge: Judge, hard: HardCases, derivation: Derived
) -> Entrant | None:
    """The first program that is accepted, where no plain one is: a candidate only after hard inputs
    and the checker.  Last come those that were left out beside faster ones, which are refused."""
    judge.fastest = inf
    late = [place for place, entrant in enumerate(entrants) if entrant.slow]
    late.sort(key=lambda place: entrants[place].seconds)
    order = [place for place in range(len(entrants)) if place not in late]
    for place in (*order, *late):
        entrant = entrants[place]
        if entrant.slow and entrant.trial.plan is not None:
            entrant = entrants[place] = _again(entrant.trial.label, entrant.trial.plan, judge)
        if entrant.run is not None and not entrant.plain:
            entrant = tried_hard(entrant, hard, derivation)
            if entrant.run is not None:
                entrant = checked(entrant, derivation, judge)
            entrants[place] = entrant
        if entrant.run is not None:
            return entrant
    return None


def _again(label: str, plan: Plan, judge: Judge) -> Entrant:
    """The candidate, built once more."""
    if in_loops(label):
        return compiled_candidate(label, plan, judge)
    return candidate(label, plan, judge, always=True)


def _bar(entrants: Sequence[Entrant], best: Entrant | None) -> Timing:
    """The time that a candidate has to beat: that of the plain program that stands, or of one that
    was as fast within noise."""
    if best is None:
        return UNTIMED
    level = [_timing(entrants[place]) for place in _running(entrants, plain=True)]
    own = _timing(best)
    return min(
        (timing for timing in (own, *level) if is_level(own, timing)),
        key=lambda timing: timing.seconds,
    )


def _timing(entrant: Entrant) -> Timing:
    return entrant.timing or Timing(entrant.seconds, 0.0)


def _running(entrants: Sequence[Entrant], *, plain: bool) -> list[int]:
    return [p for p, e in enumerate(entrants) if e.run is not None and e.plain is plain]
