"""Statements as lines of a page: as text and as mathematics, with the changed part marked.

    before   Y[i,j] = (A[i,k] - B[j,k])^2
    after    Y[i,j] = sum[k](A[i,k]^2 - 2*A[i,k]*B[j,k] + B[j,k]^2)
                      ^^^^^^^       ^^^^^^^...

Both forms are compared symbol by symbol with the longest common parts kept.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from einderive.frontend.report.story import Rewriting
from einderive.ta.ir.program import Hints, Program, Statement
from einderive.ta.printing.latex import latex
from einderive.ta.printing.mathml import leaves, markup, mathml

SYMBOL = re.compile(r"\w+|\s+|.")
CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and whether the step changed it."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One statement: its text in pieces and the same as MathML; `fresh` says that the whole
    statement is new, or goes."""

    pieces: tuple[Piece, ...]
    math: str
    fresh: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def plain_line(text: str, statement: Statement, hints: Hints) -> Line:
    """A statement without marks."""
    return Line((Piece(text),), markup(mathml(statement_latex(statement, hints))))


def statement_latex(statement: Statement, hints: Hints) -> str:
    return latex(Program((), (statement,), hints))


def marked_lines(told: Rewriting, hints: Hints) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The statements before and after a step.  Statements of one tensor are compared; one that
    stands on one side only is fresh."""
    old = {statement.name: place for place, statement in enumerate(told.old)}
    new = {statement.name: place for place, statement in enumerate(told.new)}
    before: dict[str, Line] = {}
    after: dict[str, Line] = {}
    for name in old.keys() & new.keys():
        i, j = old[name], new[name]
        texts = _marked_texts(told.before[i], told.after[j])
        maths = _marked_maths(told.old[i], told.new[j], hints)
        before[name], after[name] = (Line(t, m) for t, m in zip(texts, maths, strict=True))
    return (
        _with_fresh(told.before, told.old, before, hints),
        _with_fresh(told.after, told.new, after, hints),
    )


def _with_fresh(
    texts: Sequence[str], statements: Sequence[Statement], known: Mapping[str, Line], hints: Hints
) -> tuple[Line, ...]:
    """The lines of the statements; one that is not known is fresh."""
    return tuple(
        known.get(statement.name) or replace(plain_line(text, statement, hints), fresh=True)
        for text, statement in zip(texts, statements, strict=True)
    )


def changed(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> tuple[frozenset[int], frozenset[int]]:
    """The positions on each side that the other side does not have."""
    kept: tuple[set[int], set[int]] = set(), set()
    for i, j, size in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        kept[0].update(range(i, i + size))
        kept[1].update(range(j, j + size))
    return (
        frozenset(range(len(before))) - kept[0],
        frozenset(range(len(after))) - kept[1],
    )


def _marked_texts(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    sides = SYMBOL.findall(before), SYMBOL.findall(after)
    marks = changed(*sides)
    return _pieces(sides[0], marks[0]), _pieces(sides[1], marks[1])


def _pieces(symbols: Sequence[str], marks: frozenset[int]) -> tuple[Piece, ...]:
    """Neighbours with the same mark together; blanks between changed symbols count as changed."""
    found: list[Piece] = []
    for place, symbol in enumerate(symbols):
        blank = symbol.isspace() and place - 1 in marks and place + 1 in marks
        mark = place in marks or blank
        if found and found[-1].changed == mark:
            found[-1] = Piece(found[-1].text + symbol, mark)
        else:
            found.append(Piece(symbol, mark))
    return tuple(found)


def _marked_maths(before: Statement, after: Statement, hints: Hints) -> tuple[str, str]:
    sides = [mathml(statement_latex(statement, hints)) for statement in (before, after)]
    symbols = [leaves(side) for side in sides]
    marks = changed(*([(leaf.tag, leaf.text) for leaf in side] for side in symbols))
    for side, marked in zip(symbols, marks, strict=True):
        for place in marked:
            leaf = side[place]
            leaf.set("class", f"{leaf.get('class', '')} {CHANGED}".strip())
    return markup(sides[0]), markup(sides[1])
