"""What a page about two derivations shows, as immutable data."""

from __future__ import annotations

from dataclasses import dataclass

from einderive.frontend.explorer.models import CandidateView, DataView, StepView, View


@dataclass(frozen=True, slots=True)
class Side:
    """One of the derivations: its name on the page, all that is known of it, and the candidate
    that is compared."""

    name: str
    view: View
    candidate: CandidateView


@dataclass(frozen=True, slots=True)
class StepRow:
    """Steps that stand beside each other: of one rule, or in the place of each other.  `same` says
    that both have the same statements before and after."""

    left: StepView | None
    right: StepView | None
    same: bool


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure of both programs.  `ratio` is the right one's over the left one's, empty where that
    says nothing."""

    name: str
    left: str
    right: str
    ratio: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two derivations: in words, their figures, steps and data; `slowest` are the seconds of the
    slowest stage of both, to which bars are drawn."""

    left: Side
    right: Side
    words: str
    figures: tuple[FigureRow, ...]
    steps: tuple[StepRow, ...]
    slowest: float
    data: DataView | None

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right
