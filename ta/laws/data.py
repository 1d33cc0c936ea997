"""Laws of functions: an equation, its condition over the reals, and its differences in floating
point.

    left = right        for all real numbers that satisfy `domain`

The files of this folder, `*.toml`, have an entry for each law: the fields of `Law`.
Every law has a proof: `tests/ta/laws` proves each by SymPy, if necessary in the cases that `cases`
names.  Balls and random numbers may refute a law; they prove none.
"""

from __future__ import annotations

from dataclasses import dataclass
from re import findall, search
from typing import Any, Literal, Self

WHOLE, NUMBERS = ("m", "n"), ("m", "n", "p", "q")
"""The names that stand for whole numbers of the text, and those that stand for any of its numbers.
Every other letter stands for a term; of a sum over k, see `sums.toml`."""

ANALYTIC = frozenset(
    ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "silu", "pi", "1j")
)


@dataclass(frozen=True)
class Law:
    name: str
    equations: tuple[str, ...]
    """Equations in the notation, whose letters stand for numbers."""
    domain: str = ""
    """The condition: comparisons with commas between them.  Empty if the law holds for all numbers.
    """
    floating: str = ""
    """The differences in floating point, in words: overflow, NaN, lost digits."""
    helps: bool = False
    """Whether the right side of each equation costs less, loses no digit, and is a number wherever
    the left side is one.  Every search uses such a law, from left to right
    (`derivations.rules.law`).  It uses the other laws if the user names them, in both directions.
    """
    keeps: Literal["never", "finite", "always"] = "never"
    """Whether NaN and infinities stay where they are if the condition holds: always, or if no
    letter is NaN or infinite, or never.  Infinities that come from overflow do not count."""
    parts: bool = False
    """Whether the letters stand for complex numbers, of which the law takes parts: conjugates, real
    and imaginary parts, magnitudes."""
    cases: tuple[str, ...] = ()
    """The cases of the proof: comparisons of which at least one always holds."""

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Self:
        """The law of an entry of a file."""
        lists = ("equations", "cases")
        return cls(**entry | {name: tuple(entry.get(name, ())) for name in lists})

    @property
    def text(self) -> str:
        """The equations, as a verdict names them."""
        return " and ".join(self.equations)

    @property
    def analytic(self) -> bool:
        """Whether the law holds for complex numbers, too: its functions are quotients of power
        series that converge everywhere, and such functions are equal if they are on the reals."""
        named = {word for word in findall("[a-z0-9]+", " ".join(self.equations)) if len(word) > 1}
        if search("[<>!]|==", "".join(self.equations)):
            return False  # exp(x) == exp(x + 2*pi*1j)
        only_numbers = all(word in WHOLE for word in findall("[a-z]", self.domain))
        return only_numbers and all(w in ANALYTIC or w.isdigit() for w in named - {"sum"})

    @property
    def of_complex_numbers(self) -> bool:
        """Whether the law holds for complex numbers, too."""
        return self.parts or self.analytic

    @property
    def letters_type(self) -> str:
        """The element type of what its letters may stand for, as tensors."""
        return "complex64" if self.parts else "float32"

    @property
    def closes(self) -> bool:
        """Whether the law gives the closed form of a sum over an index."""
        return self.text.startswith("sum[k](")

    @property
    def applies(self) -> bool:
        """Whether the law can be a step on a term: it has letters for terms, and no reducer."""
        return "[" not in self.text and any(
            len(word) == 1 and word.isalpha() for word in findall("[a-z0-9]+", self.text)
        )
