"""One program of several that were built, checked and timed, as it turned out."""

from __future__ import annotations

from dataclasses import dataclass

from derivations.extract import Plan
from frontend.accuracy import cancelling
from frontend.hard_cases import FamilyError


@dataclass(frozen=True, slots=True)
class Trial:
    """One program as it was tried; `verdict` is `baseline`, `accepted` or why it was refused
    or left out.

    `error` is on random inputs, `families` are the errors on hard ones beside the baseline's, for
    the programs that were fastest; all errors are of the kind that the derivation's `accuracy`
    asks for."""

    label: str
    plan: Plan | None
    words: tuple[str, ...]
    seconds: float
    error: float
    verdict: str
    families: tuple[FamilyError, ...] = ()
    spread: float = 0.0
    """Half the distance between the quartiles of the measured times, in seconds."""
    text: str = ""
    """A plain program of torch, as Python."""

    @property
    def cancelling(self) -> tuple[str, ...]:
        """The steps that can lose digits where large parts nearly cancel: `2 (distribute)`."""
        return cancelling(self.plan.steps) if self.plan is not None else ()

    @property
    def digits_lost(self) -> float:
        """The most decimal digits that the program had less than the baseline on hard inputs."""
        return max((family.digits for family in self.families), default=0.0)
