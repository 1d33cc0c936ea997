"""Races: the programs that are timed against each other, and the winner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import torch

from einderive.frontend.call.caller import Caller
from einderive.frontend.timed.steady import MARGIN
from einderive.frontend.timed.timing import LONG_ROUNDS, LONG_SAMPLE, duel, race, summary
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial.entrants import PROBLEMS, Entrant, Judge

YOURS = "your baseline"
CLOSE = 0.8
"""A candidate that takes a smaller part of the fastest one's time needs no second race against
it."""
NEAR, SHORT = 2.0, 3e-2
"""Of calls that are shorter than this many seconds, those within this many times the fastest one's
time race again, in longer batches."""
BRIEF_CALL = 1e-4
"""In longer calls, the guard is no more than a few percent."""
ALWAYS = 0.1
"""The fastest plain program races in any case where its first run took no longer: that run may have
been slow for other reasons, and the ratio is told against it."""
RACE, RACE_TIMES = 0.15, 6.0
"""The race takes no longer than that part of the time for all programs, or than this many times the
fastest one's time."""
AMPLE, AMPLE_TIMES = 0.1, 12.0
"""Where the fastest one takes longer than this many seconds, `compile` need not end in three: the
race may take this many times its time."""
LATEST = 0.4
"""Seconds after the time is used up in which a race of two may still begin: to take the slower of
two programs costs every call."""
LONE, LONE_TIMES = 0.05, 2.0
"""The time of a program that races alone decides nothing: it is measured for this many seconds, or
for this many times as long as it takes."""


def as_called(best: Entrant, judge: Judge) -> tuple[Entrant, float]:
    """The fastest plain program as a compiled function calls it, and how many seconds more that
    takes than the line alone: a user gets this call or that of a candidate, and where they take
    microseconds, its guard is a good part."""
    if best.run is None or best.call is None or best.seconds > BRIEF_CALL or judge.left < 0:
        return best, 0.0
    caller: Callable[..., object] = Caller(judge.program, best.run, judge.device)
    call = partial(caller, *judge.operands)
    try:
        call()  # records
    except PROBLEMS:
        return best, 0.0
    with torch.no_grad():
        own, line = duel(call, best.call, cuda=judge.device == "cuda")
    return replace(best, call=call), max(0.0, own.seconds - line.seconds)


def too_late(entrant: Entrant, best: Entrant | None, judge: Judge) -> bool:
    """Whether the candidate is close to the fastest plain program, and no time is left to tell
    which one is faster: then the plain program stays."""
    late = judge.left < -LATEST
    return best is not None and late and entrant.seconds >= CLOSE * best.seconds


def wins_again(entrant: Entrant, best: Entrant | None, judge: Judge, *, won: bool = True) -> bool:
    """Whether the candidate is the faster one also beside the fastest plain program alone, where
    the two are close: the best of many in one race is often the luckiest.  Where it has `won` a
    race and loses this one, the next one decides."""
    if best is None or entrant.call is None or best.call is None:
        return True
    if entrant.seconds < CLOSE * best.seconds:
        return True
    if too_late(entrant, best, judge):
        return False
    with torch.no_grad():
        for _ in range(1 + won):
            own, bar = duel(entrant.call, best.call, cuda=judge.device == "cuda")
            if own.beats(bar, MARGIN):
                return True
    return False


def raced(entrants: Sequence[Entrant], judge: Judge, seconds: float) -> tuple[list[Entrant], bool]:
    """The entrants with the times of those that race, and whether KeyboardInterrupt ended the race.
    If calls are short, those near the fastest one race again, in longer batches, while there is
    time."""
    found = list(entrants)
    running = [e.seconds for e in found if e.run is not None]
    judge.fastest = min(running, default=inf)
    plain = min((e.seconds for e in found if e.run is not None and e.plain), default=inf)
    racing = [
        place
        for place, entrant in enumerate(found)
        if entrant.call is not None
        and entrant.run is not None
        and (
            not judge.far_behind(entrant.seconds)
            or entrant.trial.label == YOURS
            or (entrant.plain and entrant.seconds == plain <= ALWAYS)
        )
    ]
    times = RACE_TIMES if judge.fastest < AMPLE else AMPLE_TIMES
    least = RACE * judge.effort.altogether
    if len(racing) == 1:
        times, least = LONE_TIMES, LONE
    seconds = min(seconds, max(least, times * judge.fastest))
    try:
        _timed(found, racing, judge, seconds=seconds)
        best = min((found[place].seconds for place in racing), default=inf)
        near = [place for place in racing if found[place].seconds <= NEAR * best]
        if best < SHORT and len(near) > 1 and judge.left > 0:
            _timed(found, near, judge, seconds=seconds, most=LONG_ROUNDS, sample=LONG_SAMPLE)
    except KeyboardInterrupt:
        return found, True
    return found, False


def _timed(found: list[Entrant], places: Sequence[int], judge: Judge, **options: Any) -> None:
    """Enter the times of these in a race."""
    calls = [call for place in places if (call := found[place].call) is not None]
    known = [found[place].seconds for place in places]

    def watch(samples: Sequence[Sequence[float]]) -> None:
        assert judge.watch is not None
        trials = [entrant.trial for entrant in found]
        for place, so_far in zip(places, samples, strict=True):
            timing = summary(so_far)
            trials[place] = replace(trials[place], seconds=timing.seconds, spread=timing.spread)
        judge.watch(tuple(numbered(trials)))

    if judge.watch is not None:
        options["watch"] = watch
    with torch.no_grad():
        times = race(calls, known=known, cuda=judge.device == "cuda", **options)
    for place, timing in zip(places, times, strict=True):
        trial = replace(found[place].trial, seconds=timing.seconds, spread=timing.spread)
        found[place] = replace(found[place], trial=trial, timing=timing)


def numbered(trials: Sequence[Trial]) -> Iterator[Trial]:
    """Several baselines are told apart by numbers."""
    several = sum(trial.label == "baseline" for trial in trials) > 1
    count = 0
    for trial in trials:
        if trial.label == "baseline" and several:
            count += 1
            yield replace(trial, label=f"baseline {count}")
        else:
            yield trial
