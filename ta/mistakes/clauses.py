"""Ranges of iterators: other spellings, ends that are iterators, and ranges that are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from einderive.ta.mistakes.formula import Edit, Formula, Line, top_places
from einderive.ta.mistakes.mistake import (
    NEUTRAL,
    Correction,
    Finder,
    reduced_where,
    replaced,
)

_BOUND = re.compile(r"([^\W\d]\w*)\s+in\s+([^,:;\n]+?)\s*:\s*([^,:;\n]+)")
_STEPS = re.compile(r"\b([^\W\d]\w*)\s+in\s+(\d+)\s*:\s*(\d+)\s*:\s*(\d+)")
_NO_RANGE = re.compile(r"the iterator (\w+) has no range")
_REDUCING = re.compile(r"(?<![\w.])([^\W\d]\w*)\s*\[([^\[\]]*)\]\s*\(")


def _open_ranges(formula: Formula) -> Iterator[Correction]:
    """A range that keeps the reads inside, with as much padding behind as there is before: also for
    the other iterators of the statement that need one."""
    found = _NO_RANGE.match(formula.error.message)
    if found is None or formula.error.span is None:
        return
    line = formula.line_at(formula.error.span[0])
    known, rows = _reads(formula, line)
    others = (name for terms, _ in rows for name in terms if name not in ("", *known))
    proposed = []
    elsewhere = _elsewhere(formula, line)
    for name in dict.fromkeys([found[1], *others]):
        extent = next((extent for extent in _extents(known, rows, name) if extent > 0), None)
        extent = extent or elsewhere.get(name) or _remainders(formula[line.value], name)
        if extent is not None:
            proposed.append((name, extent))
    if len(proposed) > 1:
        yield _stated(formula, line, proposed)
    for name, extent in proposed[:1]:
        if name == found[1]:
            yield _stated(formula, line, [(name, extent)])
    yield _stated(formula, line, [(found[1], 16)])


def _elsewhere(formula: Formula, line: Line) -> dict[str, int]:
    """The iterators of which the other statements know one number of values."""
    found: dict[str, set[int]] = {}
    for other in formula.lines():
        for name, extent in _reads(formula, other)[0].items() if other != line else ():
            found.setdefault(name, set()).add(extent)
    return {name: extents.pop() for name, extents in found.items() if len(extents) == 1}


def _remainders(text: str, name: str) -> int | None:
    """The number c where the iterator stands in remainders by c alone: `A[(i+1)%3]`."""
    remainders = rf"(?:\b{name}|\([^()%]*\b{name}\b[^()%]*\))\s*%\s*(\d+)"
    found = {int(number) for number in re.findall(remainders, text)}
    alone = not re.search(rf"\b{name}\b", re.sub(remainders, "", text))
    return found.pop() if alone and len(found) == 1 else None


def _stated(formula: Formula, line: Line, bounds: list[tuple[str, int]]) -> Correction:
    text = ", ".join(f"{name} in 0:{extent}" for name, extent in bounds)
    given = ", ".join(f"'{name}': (0, {extent})" for name, extent in bounds)
    return Correction((line.stating(text),), formula.error.span, f"pass ranges={{{given}}}")


_Rows = list[tuple[dict[str, int], int]]
"""Rows such as `2*h+r-1` by their terms, each with the size of the dimension that it reads."""


def _reads(formula: Formula, line: Line) -> tuple[dict[str, int], _Rows]:
    """The iterators of which the number of values is known, and the other rows of the reads."""
    reads = re.finditer(r"\b([^\W\d]\w*)\s*(?:\{[^{}]*\})?\[([^\[\]]*)\]", formula[line.value])
    known: dict[str, int] = {}
    rows: _Rows = []
    for read in reads:
        if read[1] in formula.shapes:
            for index, size in zip(read[2].split(","), formula.shapes[read[1]], strict=False):
                text = re.sub(r"\bsize\(\s*\w+\s*\)", str(size), index.strip())
                if re.fullmatch(r"[^\W\d]\w*", text):
                    known[text] = size
                elif (terms := _terms(text)) is not None:
                    rows.append((terms, size))
    for bound in re.finditer(r"(\w+)\s+in\s+0\s*:\s*(\d+)", formula[(line.start, line.end)]):
        known[bound[1]] = int(bound[2])
    return known, rows


def _extents(known: dict[str, int], rows: _Rows, name: str) -> Iterator[int]:
    """How many values the iterator has where reads such as `A[2*h+r-1]` stay inside: all those
    taken together that have the same factor of it and read as many elements; or a read from behind,
    as `A[7-h]`."""
    for terms, size in rows:
        if terms.get(name, 0) < 0 and {*terms} <= {name, ""} and 0 <= terms.get("", 0) < size:
            yield terms.get("", 0) // -terms[name] + 1
    ends: dict[tuple[int, int], tuple[int, int]] = {}
    for terms, size in rows:
        others = [other for other in terms if other not in ("", name)]
        if terms.get(name, 0) <= 0 or any(other not in known for other in others):
            continue
        last = sum(terms[other] * (known[other] - 1) for other in others) + terms.get("", 0)
        before = -min(0, terms.get("", 0))
        least, most = ends.get((terms[name], size), (before, last))
        ends[terms[name], size] = max(least, before), max(most, last)
    for (factor, size), (before, last) in ends.items():
        yield (size - 1 + before - (last if last >= 0 else before)) // factor + 1


def _terms(text: str) -> dict[str, int] | None:
    """`2*h+r-1` as {"h": 2, "r": 1, "": -1}; None for what has other operators."""
    found: dict[str, int] = {}
    for sign, term in re.findall(r"([+-]?)\s*([^+-]+)", text):
        part = re.fullmatch(
            r"\s*(?:(\d+)\s*\*\s*)?([^\W\d]\w*)?(?:\s*\*\s*(\d+))?\s*|\s*(\d+)\s*", term
        )
        if part is None:
            return None
        factor = int(part[4] or 1) if part[4] else int(part[1] or 1) * int(part[3] or 1)
        key = "" if part[4] else part[2] or ""
        found[key] = found.get(key, 0) + (-factor if sign == "-" else factor)
    return found


def _triangular(formula: Formula) -> Iterator[Correction]:
    """`where s in 0:t` with an iterator t: the condition s < t, below a reducer over s."""
    for line in formula.lines():
        if not line.has_clause or not line.name:
            continue
        clause = (line.value[1], line.end)
        bounds = list(_BOUND.finditer(formula.text, *clause))
        for bound in bounds:
            name, low, high = bound[1], bound[2].strip(), bound[3].strip()
            conditions = [] if re.fullmatch(r"-?[\d.]+", low) else [_from(name, low)]
            conditions += [] if re.fullmatch(r"-?[\d.]+", high) else [_below(name, high)]
            if low.isdigit() and int(low) and conditions:
                conditions.insert(0, f"{name} >= {low}")
            if not conditions:
                continue
            count = high if low == "0" else f"{high}-({low})"
            edits = _reduced_under(formula, line, [name], " and ".join(conditions), count)
            if edits:
                others = [each[0] for each in bounds if each is not bound]
                rest = f" where {', '.join(others)}" if others else ""
                edits.append((line.value[1], line.end, rest))
                yield Correction(tuple(edits), (bound.start(), bound.end()))


def _below(name: str, end: str) -> str:
    """`q < t`, and `q <= t` for the end t+1."""
    last = re.fullmatch(r"(\w+)\s*\+\s*1", end)
    return f"{name} <= {last[1]}" if last else f"{name} < {end}"


def _from(name: str, start: str) -> str:
    """`q >= t`, and `q > t` for the start t+1."""
    before = re.fullmatch(r"(\w+)\s*\+\s*1", start)
    return f"{name} > {before[1]}" if before else f"{name} >= {start}"


def _with_steps(formula: Formula) -> Iterator[Correction]:
    """`x[t] where t in 0:10:2` as `x[2*t] where t in 0:5`."""
    for found in _STEPS.finditer(formula.text):
        line = formula.line_at(found.start())
        name, (first, end, step) = found[1], (int(number) for number in found.groups()[1:])
        if step < 1 or end <= first or line.value[1] > found.start():
            continue
        moved = f"{step}*{name}" + (f"+{first}" if first else "")
        value = re.sub(rf"\b{name}\b(?=\s*([,\]+-]))", moved, formula[line.value])
        count = -(-(end - first) // step)
        edits = (*line.value, value), (*found.span(), f"{name} in 0:{count}")
        if not re.search(rf"\b{name}\b", value.replace(moved, "")):
            yield Correction(edits, found.span())


def _reduced_under(
    formula: Formula, line: Line, names: Sequence[str], condition: str, count: str = ""
) -> list[Edit] | None:
    """The line's reductions over these iterators, under the condition, which holds `count` times;
    None where it does not say what is reduced: a reducer without a neutral element, or a sum of
    terms without a reducer."""
    edits: list[Edit] = []
    for found, inside in formula.bracketed(_REDUCING):
        own = [name.strip() for name in found[2].split(",")]
        if not line.value[0] <= found.start() < line.value[1] or not {*own} & {*names}:
            continue
        averages = found[1] == "mean" and count and own == [*names]
        if not (found[1] in NEUTRAL or averages) or (edits and found.start() < edits[-1][1]):
            return None
        word = "sum" if averages else found[1]
        new = reduced_where(word, found[2], condition, formula[inside])
        if averages:
            new = f"({new}/{count if count.isidentifier() else f'({count})'})"
        edits.append((found.start(), inside[1] + 1, new))
    value = formula[line.value]
    terms = [place for place in top_places(formula.text, line.value) if place > line.value[0]]
    if not edits and not any(formula.text[place] in "+-" for place in terms):
        edits.append((*line.value, reduced_where("sum", ",".join(names), condition, value)))
    return edits or None


def _conditions(formula: Formula) -> Iterator[Correction]:
    """`x[i] where x[i] > 0`, `sum[k](A[i,k]) where k != i`."""
    for line in formula.lines():
        clause = re.match(r"\s*where\b\s*", formula[(line.value[1], line.end)])
        if not clause or not line.name:
            continue
        first = line.value[1] + clause.end()
        items = [formula[item] for item in formula.items((first, line.end))]
        ranges = [item for item in items if _BOUND.fullmatch(item)]
        condition = " and ".join(item for item in items if item not in ranges)
        if not re.search(r"[<>=]", condition):
            continue
        words = {*re.findall(r"[^\W\d]\w*", condition)} - {*line.left} - formula.shapes.keys()
        over = [name for name in formula.iterators(line.value) if name in words]
        edits: list[Edit] | None = [(*line.value, f"where({condition}, {formula[line.value]}, 0)")]
        if over or any(name not in line.left for name in formula.iterators(line.value)):
            summed = [name for name in formula.iterators(line.value) if name not in line.left]
            edits = _reduced_under(formula, line, over or summed, condition)
        if edits:
            rest = f" where {', '.join(ranges)}" if ranges else ""
            edits.append((line.value[1], line.end, rest))
            yield Correction(tuple(edits), (first, line.end))


def _closed(written: str) -> Finder:
    """A range that contains its last value."""
    return replaced(written, lambda found: f"in {found[1]}:{int(found[2]) + 1}")


_in_brackets = _closed(r"\bin\s*\[\s*(\d+)\s*[,:]\s*(\d+)\s*\]")
_with_dots = _closed(r"\bin\s*\{?\s*(\d+)\s*(?:,\s*\d+\s*)?,?\s*\.\.+\s*,?\s*(\d+)\s*\}?")
