"""Whole tensors in the place of their elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake, in_place


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


_WHOLE = {
    **dict.fromkeys(("trace", "tr"), ("sum[{0}]({tensor}[{0},{0}])", 0)),
    **dict.fromkeys(("diag", "diagonal"), ("{tensor}[{0},{0}]", 1)),
    "transpose": ("{tensor}[{1},{0}]", 2),
}
"""Functions of a whole matrix: by elements, and how many of the indices stand on the left."""


def _of_a_matrix(formula: Formula) -> Iterator[Correction]:
    """`trace(A)`, `diag(A)`, `transpose(A)`."""
    for call in formula.calls(*_WHOLE):
        line = formula.line_at(call.span[0])
        tensor = formula[call.args[0]] if len(call.args) == 1 else ""
        if formula.rank(tensor) == 2:
            meant, rank = _WHOLE[call.name]
            own = list(line.left) if len(line.left) == rank else []
            names = own + list(formula.fresh(2 - len(own), own))
            whole = formula[line.value] == formula[call.span]
            edit = (*call.span, meant.format(*names, tensor=tensor))
            yield in_place(line, edit, names[:rank] if whole else line.left, call.span)


MISTAKES = (
    Mistake("`{found}` is a function of a matrix", "write its elements", _of_a_matrix),
    Mistake(
        "",
        "write the indices, since a formula computes with elements",
        _without_indices,
    ),
)
