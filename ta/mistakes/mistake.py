"""The protocol of a mistake: how it is found, what is said about it, and how the text is
corrected."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from einderive.ta.mistakes.formula import Edit, Formula, Line, Span, indexed

WORDS: Final[dict[str, Any]] = tomllib.loads(
    (files("einderive.ta.mistakes") / "words.toml").read_text("utf-8")
)
"""Words of other languages, and what stands for them, by sections."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Edits that take one mistake out of a text.  The first one is where the caret stands, unless
    `span` says where."""

    edits: tuple[Edit, ...]
    span: Span | None = None
    words: str = ""
    """The words in the place of `{words}` in the advice."""
    new: str = ""
    """Names of tensors that the text does not have, with spaces between them."""

    @property
    def place(self) -> Span:
        start, end, _ = self.edits[0]
        return self.span or (start, max(end, start + 1))

    def of(self, text: str) -> str:
        """The corrected text."""
        for start, end, new in sorted(self.edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


NEUTRAL = {"sum": "0", "prod": "1", "max": "-inf", "min": "inf"}
"""The neutral element of each reducer."""


def reduced_where(word: str, names: str, condition: str, body: str) -> str:
    """The reduction of what satisfies the condition."""
    return f"{word}[{names}](where({condition}, {body}, {NEUTRAL[word]}))"


def in_place(line: Line, edit: Edit, out: Sequence[str], place: Span | None = None) -> Correction:
    """The edit, and these indices on the left where they are others."""
    edits = [edit]
    if line.name and tuple(out) != line.left:
        edits.append((*line.target, f"{indexed(line.name, out)} "))
    return Correction(tuple(edits), place)


def together(edits: Sequence[Edit], place: Span | None = None) -> Iterator[Correction]:
    """All edits at once, then each alone."""
    if edits:
        yield Correction(tuple(edits), place)
    if len(edits) > 1:
        yield from (Correction((edit,)) for edit in edits)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake: what is said of it, what to do, and where it may be in a formula.

    Where nothing is said, or no advice given, what the parser says stands.  `{found}` is the text
    above the caret.  Finding is allowed to be wrong: a correction counts only if the parser reads
    what comes out of it."""

    said: str
    advice: str
    find: Callable[[Formula], Iterable[Correction]]


def pattern(
    said: str, advice: str, written: str, meant: str | Callable[[re.Match[str]], str]
) -> Mistake:
    """A mistake that a regular expression finds, with the replacement as `re.sub` takes it.  All
    occurrences are corrected at once, or each alone.  The caret stands at the group `at`."""
    compiled = re.compile(written)

    def find(formula: Formula) -> Iterator[Correction]:
        edits, place = [], None
        for found in compiled.finditer(formula.text):
            new = meant(found) if callable(meant) else found.expand(meant)
            if new != found[0]:
                edits.append((found.start(), found.end(), new))
                place = place or (found.span("at") if "at" in compiled.groupindex else None)
        yield from together(edits, place)

    return Mistake(said, advice, find)
