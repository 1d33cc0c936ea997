"""Slices of Python: an iterator with its range says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from einderive.ta.mistakes.formula import Edit, Formula, Line, Span
from einderive.ta.mistakes.mistake import Correction, Mistake
from einderive.ta.mistakes.reducers import REDUCED

_READ = re.compile(r"\b([^\W\d]\w*)\s*\[([^\[\]]*)\](?!\s*\()")
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*)\s*)?")


@dataclass(frozen=True, slots=True)
class _Slice:
    """`start:stop:step` in a dimension of this size, as Python takes it."""

    place: Span
    start: int
    step: int
    length: int
    size: int

    def index(self, name: str) -> str:
        """The element that the iterator reads."""
        scaled = f"{self.step}*{name}" if self.step not in (1, -1) else name
        if self.step == -1:
            return f"{self.start}-{name}"
        if not self.start:
            return scaled
        return f"{scaled}+{self.start}" if self.step > 0 else f"{self.start}{scaled}"


def _slices(formula: Formula) -> Iterator[Correction]:
    for line in formula.lines():
        found = list(_of_line(formula, line))
        left = [name for name in line.left if ":" not in name]
        count = max((len(own) for own in found), default=0)
        if not count or not line.name:
            continue
        used = {name for own in found for name in _plain(formula, own)}
        free = [name for name in left if name not in used]
        if len(free) < count:
            free += formula.fresh(count - len(free), left)
        names = free[-count:] if len(free) > count else free
        yield _corrected(formula, line, found, names)


def _of_line(formula: Formula, line: Line) -> Iterator[list[_Slice]]:
    """The slices of each read that has some."""
    for read in _READ.finditer(formula.text, *line.value):
        if read[1] not in formula.shapes:
            continue
        shape = formula.shapes[read[1]]
        own = []
        items = formula.items(read.span(2))
        for size, place in zip(shape, items, strict=False):
            written = _SLICE.fullmatch(formula[place])
            if written:
                numbers = [int(part) if part else None for part in written.groups()]
                if numbers[2] == 0:
                    continue
                chosen = range(size)[slice(*numbers)]
                own.append(_Slice(place, chosen.start, chosen.step, len(chosen), size))
        if own:
            yield own


def _plain(formula: Formula, own: list[_Slice]) -> set[str]:
    """The names in the other indices of the read."""
    opening = formula.text.rfind("[", 0, own[0].place[0])
    whole = formula.text[opening : formula.closing(opening)]
    return set(re.findall(r"[^\W\d]\w*", whole))


def _corrected(
    formula: Formula, line: Line, found: list[list[_Slice]], names: list[str]
) -> Correction:
    """The slices from the last one on with these names, their ranges, and the left side."""
    edits: list[Edit] = []
    lengths: dict[str, int] = {}
    partial: set[str] = set()
    for own in found:
        for each, name in zip(own, names[len(names) - len(own) :], strict=True):
            edits.append((*each.place, each.index(name)))
            lengths[name] = min(each.length, lengths.get(name, each.length))
            if each.index(name) != name or each.length != each.size:
                partial.add(name)
    ranges = ", ".join(f"{name} in 0:{lengths[name]}" for name in names if name in partial)
    if ranges:
        edits.append(line.stating(ranges))
    kept = [name for name in line.left if ":" not in name]
    reduced = [call.span for call in formula.calls(*REDUCED) if call.span[0] >= line.start]
    ends = [own[-1].place[0] for own in found]
    within = all(any(start < end < stop for start, stop in reduced) for end in ends)
    missing = [] if within else [name for name in names if name not in kept]
    if missing or len(kept) < len(line.left):
        edits.append((*line.target, f"{line.name}[{','.join([*kept, *missing])}] "))
    return Correction(tuple(edits))


MISTAKES = (
    Mistake(
        "`{found}` is a slice of Python; here each dimension has an iterator",
        "name it, and state its range where it is not the whole dimension",
        _slices,
    ),
)
