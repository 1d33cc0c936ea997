"""An order of programs that noise does not change.

    level = the fastest one, and all that are within noise of it
    order = the level ones by merit, then the same of the others

Two races of the same programs differ by some percent.  So times decide only between programs that
differ by more; among the others, fixed merits do: lost digits, stages, text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log10
from typing import Any, Final, NamedTuple

from einderive.frontend.accuracy.digits import MOST_LOST
from einderive.frontend.timed.timing import Timing
from einderive.frontend.timed.trial import Trial

MARGIN: Final = 0.97
"""A program is faster than another one when it takes at most this part of its time, beyond what
the two differ by from round to round (`Timing.beats`)."""
WITHIN: Final = 1.05
"""What takes more than this many times the fastest one's time is not level with it, however noisy
the race was."""


class Standing(NamedTuple):
    """A program's time, and what decides where times do not: the least stands first."""

    timing: Timing
    merits: tuple[Any, ...]


class Merits(NamedTuple):
    """Of a candidate: half digits that it may lose, stages that compute, its text."""

    lost: int
    stages: int
    text: str


def in_order(standings: Sequence[Standing]) -> list[int]:
    """The places of the programs, from the first choice to the last one."""
    left = sorted(range(len(standings)), key=lambda place: standings[place].timing.seconds)
    found: list[int] = []
    while left:
        first = standings[left[0]].timing
        level = [place for place in left if is_level(standings[place].timing, first)]
        found += sorted(level, key=lambda place: standings[place].merits)
        left = [place for place in left if place not in level]
    return found


def is_level(timing: Timing, fastest: Timing) -> bool:
    """Whether the program is within noise of the fastest one."""
    near = timing.seconds <= WITHIN * fastest.seconds
    return timing is fastest or (near and not fastest.beats(timing, MARGIN))


def merits(trial: Trial, base: float) -> Merits:
    """The merits of a candidate.  `base` is the error of the formula as written.  Before a program
    with a step that can cancel was run on hard inputs, it counts as if it lost all digits that it
    may lose."""
    lost = trial.digits_lost
    if trial.cancelling and not trial.families:
        lost = MOST_LOST
    if trial.error > base > 0 and isfinite(trial.error):
        lost = max(lost, log10(trial.error / base))
    made = () if trial.plan is None else trial.plan.stages
    computing = [stage for stage in made if stage.seconds]
    text = "; ".join((*trial.words, *(repr(stage.scope) for stage in computing), trial.label))
    return Merits(round(2 * lost), len(computing), text)
