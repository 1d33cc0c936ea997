"""Whole tensors in the place of their elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.ir.names import pool
from einderive.ta.mistakes.formula import Edit, Formula, Line, Span, indexed
from einderive.ta.mistakes.mistake import Correction
from einderive.ta.mistakes.whole_arrays.reading import Reader
from einderive.ta.mistakes.whole_arrays.values import NotKnown, Value


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


def _batch_elsewhere(formula: Formula) -> Iterator[Correction]:
    """`A[i,...]`, `A[...,0]`, `A[i,Ellipsis]`: an index for each dimension."""
    for line in formula.lines():
        firsts = [m[2].split(",")[0].strip() for m in _DOTTED.finditer(formula.text, *line.value)]
        if line.left[:1] == ("...",) and all(first in _DOTS for first in firsts):
            continue  # each stands where it may: something else is wrong
        edits, place, left = [], None, [name for name in line.left if name != "..."]
        for read in _DOTTED.finditer(formula.text, *line.value):
            written = [part.strip() for part in read[2].split(",")]
            missing = len(formula.shapes.get(read[1], ())) - len(written) + 1
            if missing < 0 or sum(part in _DOTS for part in written) != 1:
                continue
            at = next(number for number, part in enumerate(written) if part in _DOTS)
            free = [name for name in left if name not in written]
            names = free if len(free) == missing else list(formula.fresh(missing, left))
            own = [*written[:at], *names, *written[at + 1 :]]
            edits.append((*read.span(), indexed(read[1], own)))
            place = place or read.span()
            plain = [name for name in own if name.isidentifier()]
            if {*left} <= {*plain}:
                left = [name for name in plain if name in names or name in left or not line.left]
            left += [name for name in names if name not in left]
        if edits and line.name:
            if tuple(left) != line.left:
                edits.append((*line.target, f"{indexed(line.name, left)} "))
            yield Correction(tuple(edits), place)


_DOTS = ("...", "Ellipsis", "…")
_DOTTED = re.compile(r"\b([^\W\d]\w*)\s*\[([^\[\]:]*(?:\.\.\.|Ellipsis|…)[^\[\]:]*)\](?!\s*\()")


def _indices_in_names(formula: Formula) -> Iterator[Correction]:
    """`Y_i = A_ij x_j`: a letter for each dimension."""
    for line in formula.lines():
        edits = []
        for word in re.finditer(r"\b([^\W\d_]\w*?)_([a-z]+)\b(?!\s*[\[(])", formula.text):
            if not line.start <= word.start() < line.end or word[0] in formula.shapes:
                continue
            if line.start == word.start() or len(formula.shapes.get(word[1], ())) == len(word[2]):
                edits.append((*word.span(), indexed(word[1], word[2])))
        if len(edits) > 1:
            yield Correction(tuple(edits), edits[0][:2])


def _of_whole_arrays(formula: Formula) -> Iterator[Correction]:
    """`m = x.mean(); Y = (x - m)/x.std()`."""
    shapes = {name: tuple(shape) for name, shape in formula.shapes.items()}
    edits: list[Edit] = []
    place: Span | None = None
    for line in formula.lines():
        if not line.name or line.has_clause:
            continue  # what is said of it comes with other corrections
        try:
            written, shape, calls = _line(formula, line, shapes)
        except NotKnown:
            continue
        shapes[line.name] = shape
        if written != formula[(line.start, line.end)]:
            edits.append((line.start, line.end, written))
            place = place or (line.value if calls else None)
    if edits and place:
        yield Correction(tuple(edits), place)


def _line(
    formula: Formula, line: Line, shapes: dict[str, tuple[int, ...]]
) -> tuple[str, tuple[int, ...], int]:
    """The statement of elements, the shape of its result, and how many calls it had."""
    value, _ = _read(formula, line, shapes, 0)
    left, rank = list(line.left), len(value.shape)
    elements = bool(left) and not rank  # written with indices already
    if not (elements or not left or (len(left) == rank and all(map(str.isidentifier, left)))):
        raise NotKnown
    number = 0 if left else rank
    left = left or list(formula.fresh(rank))
    value, calls = _read(formula, line, shapes, number)
    text = f"{indexed(line.name, left)} = {value.at([] if elements else left)}"
    extents = [len(left) * [0], value.shape][not elements]
    return text, tuple(extents), calls


def _read(
    formula: Formula, line: Line, shapes: dict[str, tuple[int, ...]], taken: int
) -> tuple[Value, int]:
    """The value of a line; this many of the free names are those of its result."""
    names = pool(formula.words() | set(line.left))
    for _ in range(taken):
        next(names)
    known = {name: shape for name, shape in shapes.items() if 0 not in shape}
    reader = Reader(known, lambda: next(names))
    return reader.read(formula[line.value]), reader.calls
