"""Slices of Python: an iterator with its range says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from einderive.ta.mistakes.formula import Edit, Formula, Line, Span, indexed
from einderive.ta.mistakes.mistake import NEUTRAL, Correction, in_place, reduced_where
from einderive.ta.mistakes.reducers import REDUCED

_READ = re.compile(r"\b([^\W\d]\w*)\s*\[([^\[\]]*)\](?!\s*\()")
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*)\s*)?")
_END = r"\s*(?:(\d+)\s*\*\s*)?([^\W\d]\w*)\s*(?:([-+])\s*(\d+))?\s*"
_WINDOW = re.compile(f"{_END}:{_END}")
_OVER_ONE = re.compile(r"\b[^\W\d]\w*\s*\[\s*(\w+)\s*\]\s*\(")
_NEW = re.compile(r"\s*(?:(?:np|numpy|jnp)\.newaxis|newaxis|None)\s*")


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


def _windows(formula: Formula) -> Iterator[Correction]:
    """`x[i:i+3]` as `x[i+k] where k in 0:3`."""
    reducers = [(found[1], inside) for found, inside in formula.bracketed(_OVER_ONE)]
    for read in _READ.finditer(formula.text):
        for place in formula.items(read.span(2)):
            found = _WINDOW.fullmatch(formula[place])
            if found is None or found.group(1, 2) != found.group(5, 6):
                continue
            low, high = (
                int((s or "+") + (n or "0")) for s, n in (found.group(3, 4), found.group(7, 8))
            )
            if high <= low:
                continue
            line = formula.line_at(place[0])
            (name,) = formula.fresh(1, line.left)
            over = [names for names, inside in reducers if _within(place, inside)]
            name = over[-1] if over else name
            start = f"{found[1]}*{found[2]}" if found[1] else found[2]
            edits = [(*place, f"{start}+{name}{f'{low:+d}' if low else ''}")]
            calls = [each for each in formula.calls(*REDUCED) if _within(place, each.span)]
            if calls and not over:
                edits.append((*calls[-1].head, f"{REDUCED[calls[-1].name]}[{name}]"))
            elif not over:
                edits.append((*line.target, f"{indexed(line.name, [*line.left, name])} "))
            edits.append(line.stating(f"{name} in 0:{high - low}"))
            yield Correction(tuple(edits))


def _within(place: Span, outer: Span) -> bool:
    return outer[0] <= place[0] and place[1] <= outer[1]


_MASKED = re.compile(r"\b([^\W\d]\w*)\s*\[\s*([^\W\d]\w*)\s*([<>]=?|[=!]=)\s*([-+.\w]+)\s*\]")


def _masked(formula: Formula) -> Iterator[Correction]:
    """`sum(x[y > 0])` as `sum[i](where(y[i] > 0, x[i], 0))`, the mean as a quotient of that and the
    number of elements; by itself, `x[x > 0]` with 0 in the place of the others."""
    for read in _MASKED.finditer(formula.text):
        rank, line = formula.rank(read[1]), formula.line_at(read.start())
        if not rank or formula.rank(read[2]) != rank:
            continue
        names = line.left if len(line.left) == rank else tuple(formula.fresh(rank))
        opening = re.search(
            r"\b(\w+)\s*(?:\[([\w\s,]*)\]\s*)?\(\s*\Z", formula.text[: read.start()]
        )
        over, word = ", ".join(names), opening[1] if opening else ""
        if opening and opening[2]:
            over, names = opening[2], tuple(name.strip() for name in opening[2].split(","))
        right = indexed(read[4], names) if formula.rank(read[4]) == rank else read[4]
        condition = f"{indexed(read[2], names)} {read[3]} {right}"
        element = indexed(read[1], names)
        after = re.match(r"\s*\)", formula.text[read.end() :])
        if opening is None or after is None or word not in (*NEUTRAL, "mean"):
            new = (*read.span(), f"where({condition}, {element}, 0)")
            yield in_place(line, new, names, read.span())
            continue
        new_text = reduced_where("sum" if word == "mean" else word, over, condition, element)
        if word == "mean":
            new_text += f"/count[{over}]({condition})"
        edit = (opening.start(), read.end() + after.end(), new_text)
        left = tuple(name for name in line.left if name not in names)
        yield in_place(line, edit, left, read.span())


def _lists(formula: Formula) -> Iterator[Correction]:
    """`Y = [x, y]` as `Y[n,i] = where(n == 0, x[i], y[i]) where n in 0:2`."""
    for line in formula.lines():
        start, end = line.value
        if formula.text[start : start + 1] != "[" or formula.closing(start) != end:
            continue
        parts = [formula[place] for place in formula.items((start + 1, end - 1))]
        if len(parts) < 2:
            continue
        rank = max(formula.rank(part) or 0 for part in parts)
        used = [name for name in line.left if any(f"[{name}" in part for part in parts)]
        inner = used or list(line.left[-rank:] if rank and len(line.left) >= rank else ())
        if len(inner) < rank:
            inner = list(formula.fresh(rank, line.left))
        other = [name for name in line.left if name not in inner]
        first = other[0] if other else next(n for n in ("n", "m", "c", "b") if n not in inner)
        elements = [indexed(part, inner) if formula.rank(part) else part for part in parts]
        value = elements[-1]
        for number in reversed(range(len(parts) - 1)):
            value = f"where({first} == {number}, {elements[number]}, {value})"
        edit = (start, end, value)
        made = in_place(line, edit, (first, *inner), (start, end))
        yield Correction((*made.edits, line.stating(f"{first} in 0:{len(parts)}")), made.span)


def _new_dimensions(formula: Formula) -> Iterator[Correction]:
    """`y[:,None]*x[None,:]` as `y[i]*x[j]`: what is at the same place from the right has a name."""
    for line in formula.lines():
        reads = []
        for read in _READ.finditer(formula.text, *line.value):
            items = formula.items(read.span(2))
            if read[1] in formula.shapes and items:
                reads.append((read, items))
        new = [p for _, items in reads for p in items if _NEW.fullmatch(formula[p])]
        if not new:
            continue
        whole = [items for _, items in reads if any(formula[place] == ":" for place in items)]
        most = max(map(len, whole), default=0)
        left = [name for name in line.left if ":" not in name]
        names = left if len(left) == most else list(formula.fresh(most))
        edits: list[Edit] = []
        for read, items in reads:
            own = names[most - len(items) :] if len(items) <= most else [""] * len(items)
            written = [
                name if formula[place] == ":" else formula[place]
                for place, name in zip(items, own, strict=True)
                if not _NEW.fullmatch(formula[place])
            ]
            edits.append((*read.span(), indexed(read[1], written)))
        if most and line.name and tuple(names) != line.left:
            edits.append((*line.target, f"{indexed(line.name, names)} "))
        yield Correction(tuple(edits), new[0])


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
