"""Elements at places that are data: assigned, where the notation adds to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake

_ASSIGNED = re.compile(r"\s*(?<![-+!<>=])=(?!=)")


def _assigned(formula: Formula) -> Iterator[Correction]:
    """`Y[I[n]] = A[n]`, `Y[i+1] = A[i]`."""
    for line in formula.lines():
        start = line.target[1]
        found = _ASSIGNED.match(formula.text, start)
        if found and re.search(r"\[.*[\[+*-]", formula[line.target]):
            yield Correction(((start, found.end(), " +="),), line.target)


MISTAKES = (
    Mistake(
        "an index of `{found}` is not an iterator alone: several elements may go to one place",
        "add them up, and give the shape of the result",
        _assigned,
    ),
)
