"""Left sides: missing, with several brackets, or with an operator before the next statement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake

_READ = re.compile(r"[^\W\d]\w*\s*\[([^\[\]]*)\](?!\s*\()")
_TRAILING = re.compile(r"[-+*/,]\s*(?=\s[^\W\d]\w*\s*(?:\[[^\[\]]*\])?\s*=(?!=))")
_WORD = re.compile(r"[^\W\d]\w*")


def _without_a_left_side(formula: Formula) -> Iterator[Correction]:
    """The result has the indices that occur once, as einsum's without an arrow."""
    for line in formula.lines():
        if line.name:
            continue
        found: list[str] = []
        for read in _READ.finditer(formula[line.value]):
            found += dict.fromkeys(_WORD.findall(read[1]))
        names = [name for name in dict.fromkeys(found) if found.count(name) == 1]
        names = [name for name in names if name not in formula.shapes]
        bound = re.findall(r"\w+\s*\[([^\[\]]*)\]\s*\(", formula[line.value])
        names = [name for name in names if name not in _WORD.findall(",".join(bound))]
        result = next(name for name in ("Y", "Z", "R", "Result") if name not in formula.words())
        target = f"{result}[{','.join(names)}]" if names else result
        start = line.value[0]
        written = re.match(r"(?:=|return\b)\s*", formula[line.value])
        end = start + len(written[0]) if written else start
        yield Correction(((start, end, f"{target} = "),), (start, max(end, start + 1)))


def _an_operator_before_the_next_line(formula: Formula) -> Iterator[Correction]:
    """`Y[i] = x[i] +` before another statement, which then continues it."""
    for found in re.finditer(
        r"[-+*/,]\s*(?=\s[^\W\d]\w*\s*(?:\[[^\[\]]*\])?\s*=(?!=))", formula.text
    ):
        yield Correction(((found.start(), found.start() + 1, ""),))


def _chained_brackets(formula: Formula) -> Iterator[Correction]:
    edits = [
        (found.start(), found.end(), ",")
        for found in re.finditer(r"(?<=\w)\s*\]\s*\[\s*", formula.text)
    ]
    if edits:
        yield Correction(tuple(edits))


MISTAKES = (
    Mistake(
        "the indices of a tensor stand in one pair of brackets",
        "separate them by commas",
        _chained_brackets,
    ),
    Mistake(
        "the formula has no left side",
        "begin with the result and its indices",
        _without_a_left_side,
    ),
    Mistake(
        "`{found}` at the end of a line continues the statement on the next line",
        "take it away, or complete the statement",
        _an_operator_before_the_next_line,
    ),
)
