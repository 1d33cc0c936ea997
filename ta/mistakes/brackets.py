"""Brackets of the wrong kind, missing ones, and those too many."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.functions import FUNCTIONS
from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, replaced

_PAIRS = {"(": ")", "[": "]", "{": "}"}


def _round_indices(formula: Formula) -> Iterator[Correction]:
    """`A(i,j)`."""
    edits = []
    for call in formula.calls():
        if formula.rank(call.name) or (call.span[0] == formula.line_at(call.span[0]).start):
            opening = formula.text.index("(", call.span[0])
            edits += [(opening, opening + 1, "["), (call.span[1] - 1, call.span[1], "]")]
            place = call.span
    if edits:
        yield Correction(tuple(edits), place)


def _square_operands(formula: Formula) -> Iterator[Correction]:
    """`exp[x]`, `[a + b]*c`."""
    for found in re.finditer(r"(?<![\w\])}])\s*\[|\b([^\W\d]\w*)\s*\[", formula.text):
        if found[1] and (found[1] not in FUNCTIONS or found[1] in formula.shapes):
            continue
        opening = found.end() - 1
        end = formula.closing(opening)
        if end > 0:
            edits = ((opening, opening + 1, "("), (end - 1, end, ")"))
            yield Correction(edits, (found.start(1) if found[1] else opening, end))


def _unbalanced(formula: Formula) -> Iterator[Correction]:
    """A bracket that another one closes, or that nothing closes or opens."""
    for line in formula.lines():
        waiting: list[str] = []
        for place in range(line.start, line.end):
            letter = formula.text[place]
            if letter in _PAIRS:
                waiting.append(letter)
            elif letter in ")]}" and waiting and letter == _PAIRS[waiting[-1]]:
                waiting.pop()
            elif letter == "=" and waiting == ["["]:  # `Y[i = x[i]`
                end = len(formula.text[:place].rstrip())
                yield Correction(((end, end, "]"),), (end, place + 1))
                break
            elif letter in ")]}":
                yield Correction(((place, place + 1, ""),))
                if waiting:
                    yield Correction(((place, place + 1, _PAIRS[waiting[-1]]),))
                    yield Correction(((place, place, _PAIRS[waiting.pop()]),), (place, place + 1))
                break
        else:
            if waiting:
                missing = "".join(_PAIRS[each] for each in reversed(waiting))
                for end in dict.fromkeys((line.value[1], line.end)):
                    yield Correction(((end, end, missing),), (end, end + 1))


_separated = replaced(
    r"(?<=\w)\[([^\[\]=:]*)\]",
    lambda found: "[" + re.sub(r"\s*;\s*|(?<=\w)\s+(?=\w)", ",", found[1]).rstrip(", ") + "]",
)
