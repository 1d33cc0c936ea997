"""Lines of a text: comments, and statements that go on over several lines.

    Y[i,j] = A[i,k]*B[k,j]     # a comment ends with its line
           + C[i,j]            # this line begins with an operator: it continues the one before
           where j in 0:8      # so does a clause

A line continues inside brackets, after an operator, `=`, `,`, `:` or a word that joins (`where`,
`in`, `and`, `or`, `not`), and before any of these.  No statement begins or ends with one of them,
so that the end of a line has one meaning only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.refusals import refused

MOST_NESTED = 60
"""Brackets inside brackets; keeps every later recursion far from Python's limit."""

_COMMENT = re.compile(r"#[^\n]*")
_BRACKET = re.compile(r"[()\[\]{}]")
_SIGNS = r"[-+−*·×/%^=<>≤≥≠,:]"
_WORDS = r"\b(?:where|in|and|or|not)"
_OPEN = re.compile(rf"(?:{_SIGNS}|{_WORDS})\Z")
_LEADING = re.compile(rf"\s*(?:{_SIGNS}|!=|{_WORDS}\b)")


def without_comments(text: str) -> str:
    """The text with spaces in place of its comments."""
    return _COMMENT.sub(lambda comment: " " * len(comment[0]), text)


def joined(text: str) -> str:
    """The text with spaces in place of its comments and of the line ends inside of statements.
    Every other character keeps its position."""
    lines = without_comments(text).split("\n")
    ends = ["\n"] * (len(lines) - 1)
    depth = last = 0
    for number, line in enumerate(lines):
        if line.strip():
            if depth or _continues(lines[last]) or _LEADING.match(line):
                ends[last:number] = " " * (number - last)
            last = number
        for bracket in _BRACKET.findall(line):
            depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
    if depth or _continues(lines[last]):
        ends[last:] = " " * (len(ends) - last)
    return "".join(part for pair in zip(lines, [*ends, ""], strict=True) for part in pair)


def _continues(line: str) -> bool:
    return _OPEN.search(line.rstrip()) is not None


def nesting(text: str) -> int:
    """The largest number of brackets that are open at once."""
    return max((depth for depth, _ in _depths(text)), default=0)


def check_nesting(text: str) -> None:
    """Raises `NotationError` at the first bracket that is nested too deeply."""
    for depth, place in _depths(text):
        if depth > MOST_NESTED:
            raise refused("deep-brackets", (place, place + 1), most=MOST_NESTED)


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """The number of open brackets after each bracket, and its place."""
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "([{" else max(0, depth - 1)
        yield depth, bracket.start()
