"""Refusals of texts that are not in the notation, and of what is given beside them: `refusals.toml`
has the message and the next step of each, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from einderive.ta.errors import (
    FormulaSyntaxError,
    NameUnknownError,
    OperandError,
    RangeError,
    TextError,
)
from einderive.ta.listing import beside

_KINDS: Final[Mapping[str, type[TextError]]] = {
    "": FormulaSyntaxError,
    "text": TextError,
    "range": RangeError,
    "name": NameUnknownError,
    "operand": OperandError,
}
REFUSALS: Final = beside(__name__)
PARTS: Final = ("says", "sizes", "next")


class NotationError(Exception):
    """A `TextError` that does not know its text yet; `complete_errors` completes it."""

    def __init__(
        self,
        message: str,
        span: tuple[int, int],
        kind: type[TextError] = FormulaSyntaxError,
        *,
        sizes: str = "",
        next_step: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.span, self.kind = message, span, kind
        self.sizes, self.next_step = sizes, next_step

    def complete(self, text: str) -> TextError:
        return self.kind(
            self.message, text=text, span=self.span, sizes=self.sizes, next_step=self.next_step
        )


def refused(
    refusal: str, span: tuple[int, int], *, instead: str = "", **words: object
) -> NotationError:
    """The refusal of this name for the characters of `span`, with the words in its texts: a list is
    written with commas.  Where `instead` says something, it is the next step."""
    kind, says, sizes, step = _said(refusal, words)
    return NotationError(says, span, kind, sizes=sizes, next_step=instead or step)


def misgiven(refusal: str, text: str = "", *, instead: str = "", **words: object) -> TextError:
    """The refusal of this name for what is given beside a text, or for a whole text."""
    kind, says, sizes, step = _said(refusal, words)
    return kind(says, text=text, sizes=sizes, next_step=instead or step)


def _said(refusal: str, words: Mapping[str, object]) -> tuple[type[TextError], str, str, str]:
    given, words = REFUSALS[refusal], {name: _listed(word) for name, word in words.items()}
    says, sizes, step = (given.get(part, "").format_map(words) for part in PARTS)
    return _KINDS[given.get("kind", "")], says, sizes, step


def _listed(word: Any) -> Any:
    several = isinstance(word, Mapping | list) or type(word) is tuple
    return (", ".join(map(str, word)) or "none") if several else word


def counted(number: int, one: str, several: str = "") -> str:
    """`1 index`, `2 indices`; without a word for several, `2 dimensions`."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"
