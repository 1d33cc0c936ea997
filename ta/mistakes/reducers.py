"""Reducers: the iterators stand in square brackets, and what is reduced in round ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.functions import REDUCERS
from einderive.ta.mistakes.formula import Called, Formula, Line
from einderive.ta.mistakes.mistake import Correction, Edit, Mistake

_ALIASES = {
    **dict.fromkeys(("amax", "nanmax", "reduce_max", "maximum"), "max"),
    **dict.fromkeys(("amin", "nanmin", "reduce_min", "minimum"), "min"),
    **dict.fromkeys(("nansum", "total", "reduce_sum", "Sum", "Σ", "trace"), "sum"),
    **dict.fromkeys(("average", "nanmean", "reduce_mean", "Mean"), "mean"),
    **dict.fromkeys(("product", "Prod", "Π"), "prod"),
    "count_nonzero": "count",
}
_WORDS = (*REDUCERS, *(name for name, reduces in DEFINITIONS if reduces))
_REDUCERS = {**{word: word for word in _WORDS}, **_ALIASES}
_ANY = "|".join(sorted(_REDUCERS, key=len, reverse=True))
_LOWERED = re.compile(
    rf"(?<![\w.])({_ANY})\s*_\s*(?:\{{\s*(\w+(?:\s*,\s*\w+)*)\s*\}}|([^\W_]+))\s*(?!\w)"
)
_ALONE = re.compile(rf"(?<![\w.])({_ANY})\s*\[([^\[\]:=]*)\]\s*(?![\s(=])")
_RANGED = re.compile(
    rf"(?<![\w.])({_ANY})\s*\[\s*(\w+)\s*(?:in|=|:)\s*(-?\w+)\s*:\s*(-?\w+)\s*\]\s*(?=\()"
)
_AXIS = re.compile(r"(?:axis|dim)\s*=\s*(-?\d+)|(-?\d+)|(?:axis|dim)\s*=\s*\(([-\d,\s]*)\)")
_RUNNING = re.compile(r"\b(cumsum|cumprod|cummax|cummin)\s*(?:\[(\w+)\]\s*)?\(")
_LOOP = re.compile(r"(.*?)\s+for\s+(\w+)\s+in\s+range\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", re.DOTALL)


def _lowered(formula: Formula) -> Iterator[Correction]:
    """`sum_k(...)`, `sum_k A[i,k]*x[k]`, `sum[k] A[i,k]`."""
    for expression in (_LOWERED, _ALONE):
        for found in expression.finditer(formula.text):
            names = (found[2] or found[found.re.groups]).replace(" ", "")
            head = f"{_REDUCERS[found[1]]}[{names}]"
            if formula.text[found.end() : found.end() + 1] == "(":
                yield Correction(((found.start(), found.end(), head),))
                continue
            end = _end_of_value(formula, found.end())
            yield Correction(((found.start(), found.end(), head + "("), (end, end, ")")))


def _end_of_value(formula: Formula, start: int) -> int:
    """Where the value ends that begins here: at the end of the brackets or of the statement."""
    end = formula.line_at(start).value[1]
    depth = 0
    for place in range(start, end):
        depth += (formula.text[place] in "([{") - (formula.text[place] in ")]}")
        if depth < 0 or (depth == 0 and formula.text[place] == ","):
            return place
    return end


def _with_ranges(formula: Formula) -> Iterator[Correction]:
    for found in _RANGED.finditer(formula.text):
        line = formula.line_at(found.start())
        bound = f"{found[2]} in {found[3]}:{found[4]}"
        clause = f", {bound}" if line.has_clause else f" where {bound}"
        head = f"{_REDUCERS[found[1]]}[{found[2]}]"
        yield Correction(((found.start(), found.end(), head), (line.end, line.end, clause)))


def _without_iterators(formula: Formula) -> Iterator[Correction]:
    """`sum(A)`, `max(A, axis=1)`, `sum(A[i,k], k)`, `sum(k, A[i,k])`, `sum(x[k] for k in ...)`."""
    for call in formula.calls(*_REDUCERS):
        if not call.args:
            continue
        line, word = formula.line_at(call.span[0]), _REDUCERS[call.name]
        loop = _LOOP.fullmatch(formula[call.args[0]])
        if loop and len(call.args) == 1:
            low, high = (loop[3], loop[4]) if loop[4] else ("0", loop[3])
            clause = f"{', ' if line.has_clause else ' where '}{loop[2]} in {low}:{high}"
            new = f"{word}[{loop[2]}]({loop[1]})"
            yield Correction(((*call.span, new), (line.end, line.end, clause)), call.span)
            yield Correction(((*call.span, new),))
            continue
        yield from _of_elements(formula, call, line, word)
        if formula[call.args[0]] in formula.shapes:
            yield from _of_a_tensor(formula, call, line, word)


def _of_elements(formula: Formula, call: Called, line: Line, word: str) -> Iterator[Correction]:
    """A reducer of an expression with indices: over those that are not on the left."""
    body, *others = call.args
    named = [formula[other] for other in others]
    if named and all(re.fullmatch(r"[^\W\d]\w*", name) for name in named):
        yield Correction(((*call.span, f"{word}[{','.join(named)}]({formula[body]})"),))
        return
    *named, last = [formula[arg] for arg in call.args]
    if named and all(re.fullmatch(r"[^\W\d]\w*", name) for name in named):
        yield Correction(((*call.span, f"{word}[{','.join(named)}]({last})"),))
        return
    names = [name for name in formula.iterators(body) if name not in line.left]
    if not others and names:
        yield Correction(((*call.span, f"{word}[{','.join(names)}]({formula[body]})"),))
    if not others and not names and (own := formula.iterators(body)):
        fresh = formula.fresh(len(own))
        text = formula[body]
        for old, new in zip(own, fresh, strict=True):
            text = re.sub(rf"\b{old}\b", new, text)
        yield Correction(((*call.span, f"{word}[{','.join(fresh)}]({text})"),))


def _of_a_tensor(formula: Formula, call: Called, line: Line, word: str) -> Iterator[Correction]:
    """A reducer of a whole tensor, over all dimensions or some."""
    name = formula[call.args[0]]
    rank = formula.rank(name) or 0
    axes = _axes(formula, call, rank)
    if axes is None:
        return
    keeps = word in ("softmax", "log_softmax")
    left = [index for index in line.left if index != "..."]
    if not axes:
        first = rank - 1 if keeps else len(left) if len(left) < rank else 0
        axes = tuple(range(first, rank))
    count = rank if keeps else rank - len(axes)
    kept = left if len(left) == count else list(formula.fresh(count))
    fresh = iter(formula.fresh(rank, kept))
    free = iter(kept)
    names = [next(free) if keeps or d not in axes else next(fresh) for d in range(rank)]
    over = ",".join(names[d] for d in axes)
    edits: list[Edit] = [(*call.span, f"{word}[{over}]({name}[{','.join(names)}])")]
    if list(line.left) != kept and line.name and formula[line.value] == formula[call.span]:
        target = f"{line.name}[{','.join(kept)}] " if kept else f"{line.name} "
        edits.append((*line.target, target))
    yield Correction(tuple(edits))


def _axes(formula: Formula, call: Called, rank: int) -> tuple[int, ...] | None:
    """The axes that the call names: none for all; None where they cannot be read."""
    found: list[int] = []
    for arg in call.args[1:]:
        written = _AXIS.fullmatch(formula[arg])
        if formula[arg] in ("keepdims=False", "keepdim=False", "axis=None"):
            continue
        if written is None:
            return None
        text = next(group for group in written.groups() if group is not None)
        found += [int(part) for part in text.split(",") if part.strip()]
    if any(not -rank <= axis < rank for axis in found):
        return None
    return tuple(sorted({axis % rank for axis in found}))


def _running(formula: Formula) -> Iterator[Correction]:
    """`cumsum(x)`, `cumsum[k](x[k])`: a reducer of the elements up to the one on the left."""
    kinds = {"cumsum": ("sum", "0"), "cumprod": ("prod", "1"), "cummax": ("max", "-inf")}
    kinds["cummin"] = ("min", "inf")
    for found in re.finditer(
        r"\b(cumsum|cumprod|cummax|cummin)\s*(?:\[(\w+)\]\s*)?\(", formula.text
    ):
        end = formula.closing(found.end() - 1)
        line = formula.line_at(found.start())
        if end < 0:
            continue
        word, neutral = kinds[found[1]]
        body, *_ = formula.items((found.end(), end - 1)) or ((0, 0),)
        text, target = formula[body], []
        left = list(line.left)
        if text in formula.shapes:
            rank = formula.rank(text) or 0
            if len(left) != rank:
                left = list(formula.fresh(rank))
                target = [(*line.target, f"{line.name}[{','.join(left)}] ")]
            if f"{left[-1]}" not in formula[line.value]:
                size = formula.shapes[text][-1]
                clause = f"{', ' if line.has_clause else ' where '}{left[-1]} in 0:{size}"
                target.append((line.end, line.end, clause))
            text = f"{text}[{','.join(left)}]"
        if not left:
            continue
        last = found[2] if found[2] in left else left[-1]
        running = found[2] if found[2] and found[2] not in left else formula.fresh(1, left)[0]
        moved = text if running == found[2] else re.sub(rf"\b{last}\b", running, text)
        new = f"{word}[{running}](where({running} <= {last}, {moved}, {neutral}))"
        yield Correction(((found.start(), end, new), *target))


MISTAKES = (
    Mistake(
        "`{found}` is not how a reducer is written",
        "its iterators stand in square brackets and its value in round ones",
        _lowered,
    ),
    Mistake(
        "the brackets of a reducer hold iterators, without their ranges",
        "the ranges follow at the end of the statement",
        _with_ranges,
    ),
    Mistake(
        "`{found}` does not say over which iterators it reduces",
        "name the iterators in square brackets",
        _without_iterators,
    ),
    Mistake(
        "the notation has no running sums, products or maxima",
        "reduce the elements up to the index on the left",
        _running,
    ),
)
