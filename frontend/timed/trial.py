"""One program that was built, checked and timed, with its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.accuracy.levels import cancelling

IN_LOOPS = ", compiled"
"""What ends the label of a program whose stages are compiled."""
GIVEN = "as given"
AS_GIVEN = f"{GIVEN}{IN_LOOPS}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One program that was tried: its time, its errors, its verdict.

    - `verdict` is `baseline`, `accepted`, or the reason why it was refused or left out.
    - `error` is the error on random inputs.
    - `families` are the errors on hard inputs, with those of the formula as written beside them, up
      to the first family that refuses the program.  Only the fastest programs have them.

    The derivation's `accuracy` decides how errors are measured."""

    label: str
    plan: Plan | None
    words: tuple[str, ...]
    seconds: float
    error: float
    verdict: str
    families: tuple[FamilyError, ...] = ()
    step_digits: tuple[tuple[str, float], ...] = ()
    """The digits that each step that can cancel loses, as `("2 (distribute)", 6.3)`, on the inputs
    where the program loses most; empty if it loses none."""
    spread: float = 0.0
    """Half the distance between the quartiles of the measured times, in seconds."""
    text: str = ""
    """A plain program of torch, as Python."""

    @property
    def cancelling(self) -> tuple[str, ...]:
        """The steps that can lose digits where large parts nearly cancel: `2 (distribute)`."""
        return cancelling(self.plan.steps) if self.plan is not None else ()

    @property
    def worst(self) -> FamilyError | None:
        """The hard inputs on which the program lost most digits."""
        return max(self.families, key=lambda family: family.digits, default=None)

    @property
    def digits_lost(self) -> float:
        """The most decimal digits that the program loses against the formula as written, over
        random and hard inputs."""
        return 0.0 if self.worst is None else self.worst.digits


Watch: TypeAlias = Callable[[tuple[Trial, ...]], object]
"""A function that is given all programs, with their times so far."""
