"""The protocol of a mistake: how it is found, which message it gives, and how the text is
corrected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final, TypeAlias

from einderive.ta.listing import table
from einderive.ta.mistakes.formula import Edit, Formula, Line, Span, indexed

WORDS: Final = table("einderive.ta.mistakes", "words.toml")
"""Words of other languages, and what stands for them, by sections."""


def spelled(section: str) -> dict[str, str]:
    """The words or characters of a section -> what stands for them."""
    meanings = WORDS[section].items()
    return {word: meant for meant, words in meanings for word in words.split()}


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


Finder: TypeAlias = Callable[[Formula], Iterable[Correction]]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake: its message, its advice, and the function that finds it in a formula.

    Without a message or advice of its own, those of the parser are shown.  `{found}` is the text
    above the caret.  A finder may be wrong: a correction counts only if the parser reads
    the corrected text."""

    said: str
    advice: str
    find: Finder
    first: bool
    """Whether it is looked for before the mistakes of all files."""


def replaced(written: str, meant: str | Callable[[re.Match[str]], str]) -> Finder:
    """The finder of a regular expression, with the replacement as `re.sub` takes it.  All
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

    return find


def stripped(written: str, meant: str) -> Finder:
    """The same, where the blanks around each group are left out."""

    def text(found: re.Match[str]) -> str:
        return re.sub(r"\\(\d)", lambda group: found[int(group[1])].strip(), meant)

    return replaced(written, text)


def listed(name: str) -> list[Mistake]:
    """The mistakes that the TOML file of this name lists, in its order.

    `find` names a finder of the Python file of that name.  Otherwise `written` is a regular
    expression, and `meant` or `stripped` its replacement; `(?&NAME)` stands for an expression of
    the section `parts`."""
    data = table(__package__, f"{name}.toml")
    module = import_module(f"{__package__}.{name}")

    def finder(entry: Mapping[str, str]) -> Finder:
        if "find" in entry:
            found: Finder = getattr(module, entry["find"])
            return found
        written = entry["written"]
        for part, expression in data.get("parts", {}).items():
            written = written.replace(f"(?&{part})", expression)
        if "stripped" in entry:
            return stripped(written, entry["stripped"])
        return replaced(written, entry["meant"])

    return [
        Mistake(each.get("said", ""), each.get("advice", ""), finder(each), "first" in each)
        for each in data["mistakes"]
    ]
