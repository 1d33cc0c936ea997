"""Whole tensors in the place of their elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula, indexed
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


def _too_few_indices(formula: Formula) -> Iterator[Correction]:
    """`Y[i] = 2*A[i]` of a matrix: its rows, so `Y[i,j] = 2*A[i,j]`."""
    for line in formula.lines():
        reads = []
        for read in re.finditer(r"\b([^\W\d]\w*)\s*\[([^\[\]:]+)\](?!\s*\()", formula[line.value]):
            written = [name.strip() for name in read[2].split(",")]
            missing = len(formula.shapes.get(read[1], ())) - len(written)
            if missing > 0 and "..." not in written:
                reads.append((read, written, missing))
        most = max((missing for *_, missing in reads), default=0)
        if not most or not line.name:
            continue
        used = set(re.findall(r"[^\W\d]\w*", formula[line.value]))
        unused = [name for name in line.left if name not in used]
        names = unused if len(unused) == most else list(formula.fresh(most, line.left))
        start = line.value[0]
        edits = [
            (start + read.start(), start + read.end(), indexed(read[1], [*own, *names[-n:]]))
            for read, own, n in reads
        ]
        left = dict.fromkeys((*line.left, *names))
        if len(left) > len(line.left):
            edits.append((*line.target, f"{indexed(line.name, list(left))} "))
        yield Correction(tuple(edits))


MISTAKES = (
    Mistake("", "", _too_few_indices),
    Mistake(
        "",
        "write the indices, since a formula computes with elements",
        _without_indices,
    ),
)
