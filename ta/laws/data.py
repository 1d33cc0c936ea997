"""What a law is: an equation, where it holds over the reals, where floating point differs.

    left = right        for all real numbers that satisfy `domain`

Every law has a proof: `tests/ta/laws` proves each by SymPy, in the cases that `cases` names where
the law is one of order.  Balls and random numbers may refute a law; they prove none.
"""

from __future__ import annotations

from dataclasses import dataclass
from re import findall
from typing import Literal

WHOLE, NUMBERS = ("m", "n"), ("m", "n", "p", "q")
"""The names that stand for whole numbers of the text, and those that stand for any of its numbers;
every other letter stands for a term."""


@dataclass(frozen=True)
class Law:
    name: str
    equations: tuple[str, ...]
    """In the notation; every letter is a number."""
    domain: str = ""
    """Comparisons with a comma between them; empty where it holds for all numbers."""
    floating: str = ""
    """Where floating point differs: overflow, NaN, lost digits."""
    helps: bool = False
    """Whether the right side of each equation costs less, and is as exact and as often a number:
    such a law is a step of every search (`derivations.rules.law`), from left to right; the others
    are steps where they are asked for, in both directions."""
    keeps: Literal["never", "finite", "always"] = "never"
    """Whether, where the domain is known, NaN and infinities of floating point stay where they are,
    but for those that come of overflow: always, or where no letter is NaN or infinite."""
    cases: tuple[str, ...] = ()
    """Comparisons, of which one holds in each case of the proof."""

    @property
    def text(self) -> str:
        """The equations and the domain, as a verdict names them."""
        return " and ".join(self.equations)

    @property
    def applies(self) -> bool:
        """Whether a step can put terms in the place of its letters."""
        return "[" not in self.text and any(len(word) == 1 for word in findall("[a-z]+", self.text))
