"""Whole tensors in the place of their elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake


def _without_indices(formula: Formula) -> Iterator[Correction]:
    """`Y = A + B`, element by element: the last dimensions belong together."""
    for line in formula.lines():
        if not line.name:
            continue
        found = [
            each
            for each in re.finditer(r"(?<![\w.])[^\W\d]\w*(?!\s*[\[\w({])", formula[line.value])
            if formula.rank(each[0])
        ]
        if not found:
            continue
        most = max(formula.rank(each[0]) or 0 for each in found)
        left = [name for name in line.left if name != "..."]
        names = left + list(formula.fresh(most - len(left), left))
        whole = not left or "*" not in formula[line.value]  # nothing is summed
        start = line.value[0]
        edits = []
        for each in found:
            own = names[len(names) - (formula.rank(each[0]) or 0) :]
            end = start + each.end()
            edits.append((end, end, f"[{','.join(own)}]"))
        place = (start + found[0].start(), start + found[0].end())
        if whole and len(names) > len(left):
            edits.append((*line.target, f"{line.name}[{','.join(names)}] "))
        yield Correction(tuple(edits), place)


MISTAKES = (
    Mistake(
        "",
        "write the indices, since a formula computes with elements",
        _without_indices,
    ),
)
