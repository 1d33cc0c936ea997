"""A formula that cannot be read, as plain text: its lines, its brackets, names that are free."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise
from typing import TypeAlias

from einderive.ta.errors import TextError
from einderive.ta.ir.names import RESERVED, pool

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_INDICES = r"\[(?:[^\[\]=]|\[[^\[\]=]*\])*\]"
_TARGET = re.compile(rf"\s*([^\W\d]\w*)\s*((?:{_INDICES}\s*)*)([-+]?=)(?!=)")
_CLAUSE = re.compile(r"\bwhere\b(?!\s*\()")
_WORD = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"(?<![\w.])([^\W\d]\w*)\s*\(")


def results() -> Iterator[str]:
    """Names for a result: Y, Z, R, Y1, Y2, ..."""
    return chain(("Y", "Z", "R"), (f"Y{number}" for number in count(1)))


Span: TypeAlias = tuple[int, int]
"""Half-open range of characters."""
Edit: TypeAlias = tuple[int, int, str]
"""The place that is replaced, and what it becomes."""


@dataclass(frozen=True, slots=True)
class Line:
    """One statement: its place, the name and the names in the indices on its left, the places of
    these, of its value and of the end of its value."""

    start: int
    end: int
    name: str
    left: tuple[str, ...]
    target: Span
    value: Span
    has_clause: bool

    def stating(self, bound: str) -> Edit:
        """The range as a further one of the line."""
        return self.end, self.end, f", {bound}" if self.has_clause else f" where {bound}"


@dataclass(frozen=True, slots=True)
class Called:
    """`name(arg, ...)`: the places of the whole and of each operand."""

    name: str
    span: Span
    args: tuple[Span, ...]

    @property
    def head(self) -> Span:
        """The place of the name."""
        return self.span[0], self.span[0] + len(self.name)


@dataclass(frozen=True, slots=True)
class Formula:
    """A text without comments, the shapes that are known, and the error that the parser found."""

    text: str
    shapes: Mapping[str, Sequence[int]]
    error: TextError

    def __getitem__(self, span: Span) -> str:
        return self.text[span[0] : span[1]]

    def lines(self) -> Iterator[Line]:
        """The statements, also where they have no left side."""
        start = 0
        for part in re.split(r"[;\n]", self.text):
            if part.strip():
                yield self._line(start, part)
            start += len(part) + 1

    def line_at(self, place: int) -> Line:
        """The statement in which a place is; the last one for the end of the text."""
        found = list(self.lines())
        return next((line for line in found if place <= line.end), found[-1])

    def _line(self, start: int, part: str) -> Line:
        end = start + len(part.rstrip())
        first = end - len(part.strip())
        found = _TARGET.match(part)
        top = {*top_places(part, (0, len(part)))}
        clause = [each.start() for each in _CLAUSE.finditer(part) if each.start() in top]
        value_end = start + len(part[: clause[-1]].rstrip()) if clause else end
        if found is None:
            return Line(first, end, "", (), (first, first), (first, value_end), bool(clause))
        left = tuple(name.strip() for name in re.split(r"[\[\],]", found[2]) if name.strip())
        value = start + found.end()
        value += len(part) - len(part[found.end() :].lstrip()) - found.end()
        target = (first, start + len(part[: found.start(3)].rstrip()))
        return Line(first, end, found[1], left, target, (value, value_end), bool(clause))

    def closing(self, opening: int) -> int:
        """The place behind the bracket that closes the one here; -1 where nothing does."""
        waiting: list[str] = []
        for place in range(opening, len(self.text)):
            letter = self.text[place]
            if letter in _PAIRS:
                waiting.append(_PAIRS[letter])
            elif letter in ")]}":
                if letter != waiting.pop():
                    return -1
                if not waiting:
                    return place + 1
        return -1

    def items(self, span: Span) -> tuple[Span, ...]:
        """The places of what commas separate, without spaces around."""
        cuts = [span[0] - 1]
        cuts += [place for place in top_places(self.text, span) if self.text[place] == ","]
        cuts.append(span[1])
        found = []
        for before, after in pairwise(cuts):
            part = self.text[before + 1 : after]
            start = before + 1 + len(part) - len(part.lstrip())
            found.append((start, start + len(part.strip())))
        return tuple(found) if self[span].strip() else ()

    def bracketed(self, opening: re.Pattern[str]) -> Iterator[tuple[re.Match[str], Span]]:
        """The matches of what ends with an opening bracket, and the places inside the brackets."""
        for found in opening.finditer(self.text):
            end = self.closing(found.end() - 1)
            if end > 0:
                yield found, (found.end(), end - 1)

    def calls(self, *names: str) -> Iterator[Called]:
        """The calls of these functions, or all."""
        for found, inside in self.bracketed(_CALL):
            if not names or found[1] in names:
                yield Called(found[1], (found.start(), inside[1] + 1), self.items(inside))

    def operand_before(self, end: int) -> int:
        """The place where the operand begins that ends here: a name, a number, a read, a call,
        brackets.  -1 if there is none."""
        start = end
        if self.text[end - 1 : end] and self.text[end - 1] in ")]":
            opens = (at for at in range(end - 1, -1, -1) if self.text[at] in "([")
            start = next((at for at in opens if self.closing(at) == end), -1)
            if start > 0 and self.text[start - 1] == "]" and self.text[start] == "(":
                return self.operand_before(start)  # sum[k](...)
        name = re.search(r"[\w.]*\Z", self.text[: max(start, 0)])
        begin = start - len(name[0]) if name else start
        return begin if begin < end else -1

    def operand_after(self, start: int) -> int:
        """The place where the operand ends that begins here; -1 if there is none."""
        found = re.compile(r"-?\s*[\w.]*").match(self.text, start)
        end = found.end() if found else start
        while self.text[end : end + 1] and self.text[end] in "([":
            end = self.closing(end)
            if end < 0:
                return -1
        return end if end > start else -1

    def words(self) -> set[str]:
        return {*_WORD.findall(self.text), *self.shapes, *RESERVED}

    def fresh(self, number: int, besides: Sequence[str] = ()) -> tuple[str, ...]:
        """Names of iterators that the text does not use."""
        names = pool(self.words() | set(besides))
        return tuple(next(names) for _ in range(number))

    def rank(self, name: str) -> int | None:
        """The number of dimensions of a tensor that is given, or that a statement defines."""
        if name in self.shapes:
            return len(self.shapes[name])
        return next((len(line.left) for line in self.lines() if line.name == name), None)

    def iterators(self, span: Span) -> tuple[str, ...]:
        """The names that occur in the indices of reads there and are no tensors, in order."""
        found: dict[str, None] = {}
        for bracket in re.finditer(r"\w\s*\[([^\[\]]*)\](?!\s*\()", self[span]):
            found |= dict.fromkeys(_WORD.findall(bracket[1]))
        return tuple(name for name in found if name not in self.shapes and name not in RESERVED)


def top_places(text: str, span: Span) -> Iterator[int]:
    """The places within the span that no bracket encloses; the last one is a bracket that closes
    more than the span opens."""
    depth = 0
    for place in range(*span):
        depth -= text[place] in ")]}"
        if depth < 0 or (depth == 0 and text[place] not in "([{)]}"):
            yield place
        if depth < 0:
            return
        depth += text[place] in "([{"


def indexed(name: str, indices: Sequence[str]) -> str:
    """`A[i,j]`, or `s`."""
    return f"{name}[{','.join(indices)}]" if indices else name
