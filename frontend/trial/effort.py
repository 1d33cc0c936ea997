"""How much time and memory may go into a compiled function.

effort of t seconds   search t/6, at most 10;  programs tried, judged and timed 0.67 t;
                      timing t/3 of these, single stages t/10;
                      6*sqrt(t/3) candidates, at most 32
"normal"              3 seconds
"high"                60 seconds
"instant"             a short search; the program that is predicted to be the fastest is checked
                      against the formula, and no times are compared
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, sqrt
from numbers import Integral, Real
from typing import Final, Literal, TypeAlias

from einderive.ta.errors import OperandError, TextError, shown

Given: TypeAlias = Literal["instant", "normal", "high"] | float
"""An effort as a user gives it: a word, or a number of seconds."""
NORMAL_SECONDS: Final = 3.0
HIGH_SECONDS: Final = 60.0
LONGEST_SEARCH: Final = 10.0
MOST_TRIED: Final = 32
LEAST_FOR_INDUCTOR: Final = 45.0
LONGEST: Final = 1e9
"""Seconds of timing beyond this are the same as this."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What `compile` spends.  All times are of a formula that takes less than 100 ms.

    - `search` are the seconds of the search, `timing` those of one race, `altogether` those for
      trying programs and timing them, and `before` those of their runs before the race.
    - `preparing` are the seconds for making hard inputs.
    - `extracting` are the seconds for measuring stages that decide which candidates are tried.
    - `tried` candidates are built, and the stages of `compiled` programs are compiled into loops.
    - `inductor`: the fastest plain program is compiled by Inductor too, which takes long.
    - `measured`: programs are timed; else predictions choose."""

    search: float
    timing: float
    altogether: float
    before: float
    preparing: float
    extracting: float
    tried: int
    compiled: int
    measured: bool = True
    inductor: bool = False

    def after(self, seconds: float) -> Effort:
        """What is left for the programs, where the search and all before it took this many seconds:
        what they took beyond the search's share is missing, up to half of the time."""
        missing = min(max(seconds - self.search, 0.0), self.altogether / 2)
        return replace(self, altogether=self.altogether - missing)


def of_seconds(seconds: float) -> Effort:
    """The effort of about this many seconds."""
    times = seconds / NORMAL_SECONDS
    return Effort(
        search=min(0.5 * times, LONGEST_SEARCH),
        timing=times,
        altogether=2.0 * times,
        before=0.35 * times,
        preparing=0.3 * min(times, 5.0),
        extracting=0.3 * times,
        tried=min(max(round(6 * sqrt(times)), 1), MOST_TRIED),
        compiled=min(max(round(6 * sqrt(times)), 1), 12),
        inductor=seconds >= LEAST_FOR_INDUCTOR,
    )


NORMAL: Final = of_seconds(NORMAL_SECONDS)
EFFORTS: Final = {
    "instant": Effort(0.2, 0.0, 0.1, 0.1, 0.03, 0.0, 2, 0, measured=False),
    "normal": NORMAL,
    "high": of_seconds(HIGH_SECONDS),
}


def effort_of(given: object) -> Effort:
    """The effort that a user means, or that is given as one.  TextError if there is none."""
    if isinstance(given, Effort):
        return given
    if isinstance(given, str) and given in EFFORTS:
        return EFFORTS[given]
    if isinstance(given, Real) and not isinstance(given, bool):
        seconds = float(given)
        if isfinite(seconds) and seconds > 0:
            return of_seconds(seconds)
    raise TextError(
        f"effort is a word or a number of seconds above 0, not {shown(given, 40)}",
        next_step=f"use one of {', '.join(map(repr, EFFORTS))}, or for example effort=10.0",
    )


def amounts(effort: Effort, seconds: float | None, tried: int | None) -> tuple[float, int]:
    """Seconds of timing and candidates to build, as asked for, or else as the effort has them."""
    seconds = effort.timing if seconds is None else seconds
    tried = effort.tried if tried is None else tried
    if not isinstance(seconds, Real) or not seconds >= 0:  # also refuses NaN
        raise OperandError(
            f"seconds is how long timing may take, not {shown(seconds)}",
            next_step="for example seconds=1.0",
        )
    if not isinstance(tried, Integral) or tried < 0:
        raise OperandError(
            f"tried is how many candidates to build, not {shown(tried)}",
            next_step="for example tried=6; with 0 the baseline stays",
        )
    return float(min(seconds, LONGEST)), int(tried)
