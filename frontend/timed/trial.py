"""One program that was built, checked and timed, with its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.accuracy.levels import cancelling

IN_LOOPS = ", compiled"
"""What follows the name of a program whose stages are compiled, in its label."""
IN_FLOAT64 = " in float64"
"""What follows that where the loops compute in float64 what the formula computes in float32."""
INEXACT = "refused: error"
"""What begins the verdict on a program whose error on random inputs is too large."""
GIVEN = "as given"
AS_GIVEN = f"{GIVEN}{IN_LOOPS}"


def in_loops(label: str) -> bool:
    """Whether the program of this label has its stages compiled."""
    return IN_LOOPS in label


def in_float64(label: str) -> bool:
    """Whether its loops compute in float64 what the formula computes in float32."""
    return label.endswith(IN_FLOAT64)


def program_of(label: str) -> str:
    """The name of the program, as `candidate 1` of `candidate 1, compiled in float64`."""
    return label.partition(IN_LOOPS)[0]


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
    def inexact(self) -> bool:
        """Whether the program is refused for its errors."""
        return self.verdict.startswith(INEXACT) or any(not one.accepted for one in self.families)

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
