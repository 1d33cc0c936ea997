"""What a law is: an equation, where it holds over the reals, where floating point differs.

    left = right        for all real numbers that satisfy `domain`

Every law has a proof: `tests/ta/laws` proves each by SymPy, in the cases that `cases` names where
the law is one of order.  Balls and random numbers may refute a law; they prove none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Law:
    name: str
    equations: tuple[str, ...]
    """In the notation; a, b, c, x, n are numbers."""
    domain: str = ""
    """Comparisons with a comma between them; empty where it holds for all numbers."""
    floating: str = ""
    """Where floating point differs: overflow, NaN, lost digits."""
    helps: bool = False
    """Whether the right side of each equation costs less, and is as exact and as often a number:
    such a law is a step of the search (`derivations.rules.law`) and an axiom of the checker."""
    keeps: bool = False
    """Whether, where the domain is known, NaN and infinities of floating point stay where they
    are."""
    cases: tuple[str, ...] = ()
    """Comparisons, of which one holds in each case of the proof."""

    @property
    def text(self) -> str:
        """The equations and the domain, as a verdict names them."""
        return " and ".join(self.equations)
