"""The search for a text that the parser reads, by corrections of known mistakes.

A text may have several mistakes: a correction counts if no error is left, or if the next error
stands further to the right.  So nothing is proposed that is not in the notation, and nothing that
is in the notation is taken for a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

from einderive.ta.errors import TextError
from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake, listed

ORDER = """
    characters statements arrays python slices products reducers latex functions brackets clauses
    shapes
"""
"""The files of mistakes, in the order in which they are asked."""
MISTAKES: tuple[Mistake, ...] = tuple(
    sorted(chain.from_iterable(map(listed, ORDER.split())), key=lambda each: not each.first)
)
MOST_ATTEMPTS = 150
MOST_CORRECTIONS = 8
LONGEST = 1000
"""Characters of a text whose mistakes are looked for."""
_NO_SHAPE = re.compile(r"(?:the tensor|dimension \d+ of) (\w+) has no (?:shape|size)")

_Made: TypeAlias = tuple[Mistake, Correction]
"""A correction that was made; the error speaks of the first one."""


class Tried(NamedTuple):
    """The parser's answer to a text: whether it is in the grammar, and the error, if there is
    one."""

    in_grammar: bool
    error: TextError | None

    def reached(self, text: str) -> tuple[bool, int]:
        """The progress of the parser.  An error in the meaning of a text counts as further than one
        in its grammar."""
        span = (self.error and self.error.span) or (0, 0)
        return self.in_grammar, span[0] - len(text)


@dataclass(frozen=True)
class Parser:
    """The parser, as far as it is needed: the error of a text, and a text without its comments and
    with the lines of a statement joined."""

    tried: Callable[[str], Tried]
    joined: Callable[[str], str]


def repaired(error: TextError, shapes: Mapping[str, Sequence[int]], parser: Parser) -> TextError:
    """The error, with what was meant and the corrected line where they are found."""
    if len(error.text) > LONGEST or error.span is None:
        return error
    search = _Search(error, shapes, parser)
    found = search.from_here(error.text, parser.tried(error.text), ())
    return found or search.without_shapes or error


@dataclass
class _Search:
    """A search in depth: the correction after which the parser comes furthest is followed first."""

    error: TextError
    shapes: Mapping[str, Sequence[int]]
    parser: Parser
    seen: set[str] = field(default_factory=set)
    without_shapes: TextError | None = None

    def from_here(self, text: str, now: Tried, made: tuple[_Made, ...]) -> TextError | None:
        """The error to show for `text`: that of the first corrected text that the parser reads.
        None if no sequence of corrections leads to such a text."""
        better: list[tuple[str, Tried, tuple[_Made, ...]]] = []
        if now.error is None or len(made) >= MOST_CORRECTIONS:
            return None
        formula = Formula(self.parser.joined(text), self.shapes, now.error)
        for mistake in MISTAKES:
            for correction in mistake.find(formula):
                new = correction.of(text)
                if len(self.seen) >= MOST_ATTEMPTS:
                    return None
                if new in self.seen or not new.strip() or len(new) > LONGEST:
                    continue
                self.seen.add(new)
                left, steps = self.parser.tried(new), (*made, (mistake, correction))
                if left.error is None:
                    return self._said(*steps[0], new)
                if self.without_shapes is None and _needs_only_a_shape(
                    self.error, left.error, correction.new.split()
                ):
                    self.without_shapes = self._said(*steps[0], new)
                if left.reached(new) > now.reached(text):
                    better.append((new, left, steps))
        better.sort(key=lambda each: each[1].reached(each[0]), reverse=True)
        return next(filter(None, (self.from_here(*each) for each in better)), None)

    def _said(self, mistake: Mistake, correction: Correction, corrected: str) -> TextError:
        """The error with the mistake's words, its place and the corrected statements."""
        error, place = self.error, correction.place
        before = self._statements(error.text)
        lines = "; ".join(line for line in self._statements(corrected) if line not in before)
        found = " ".join(error.text[slice(*place)].split())
        advice = mistake.advice.format(words=correction.words) or error.next_step
        mark = "" if advice.endswith("?") else ":"
        return type(error)(
            mistake.said.format(found=found) or error.message,
            text=error.text,
            span=place if mistake.said else error.span,
            sizes=error.sizes,
            next_step=f"{advice}{mark} `{lines}`" if lines else advice,
        )

    def _statements(self, text: str) -> list[str]:
        lines = self.parser.joined(text).split("\n")
        return [" ".join(line.split()) for line in lines if line.strip()]


def _needs_only_a_shape(before: TextError, after: TextError, new: Sequence[str]) -> bool:
    """Whether what is left is the shape of a tensor, which the caller has not given."""
    found = _NO_SHAPE.fullmatch(after.message)
    if found is not None and found[1] in new:
        return True
    if found is None or _NO_SHAPE.fullmatch(before.message):
        return False
    name = found[1].partition("_of_")[2] or found[1]
    return (
        re.search(rf"(?<![^\W\d]){re.escape(name)}(?:\b|(?=_))(?!\s*\.(?!\w+_\())", before.text)
        is not None
    )
