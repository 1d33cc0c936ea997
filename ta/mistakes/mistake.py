"""What a mistake is: how it is found, what is said of it, and how the text is corrected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from einderive.ta.mistakes.formula import Formula, Span

Edit = tuple[int, int, str]
"""The place that is replaced, and what it becomes."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Edits that take one mistake out of a text.  The first one is where the caret stands, unless
    `span` says where."""

    edits: tuple[Edit, ...]
    span: Span | None = None
    words: str = ""
    """What stands for `{words}` in the advice."""

    @property
    def place(self) -> Span:
        start, end, _ = self.edits[0]
        return self.span or (start, max(end, start + 1))

    def of(self, text: str) -> str:
        """The corrected text."""
        for start, end, new in sorted(self.edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


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
    occurrences are corrected at once, or each alone."""
    compiled = re.compile(written)

    def find(formula: Formula) -> Iterator[Correction]:
        edits = []
        for found in compiled.finditer(formula.text):
            new = meant(found) if callable(meant) else found.expand(meant)
            if new != found[0]:
                edits.append((found.start(), found.end(), new))
        if edits:
            yield Correction(tuple(edits))
        if len(edits) > 1:
            yield from (Correction((edit,)) for edit in edits)

    return Mistake(said, advice, find)
