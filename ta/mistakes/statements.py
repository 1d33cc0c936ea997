"""Left sides: missing, with several brackets, or with an operator before the next statement; and
values that read later statements, their own one, or have indices themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula, indexed, results
from einderive.ta.mistakes.mistake import Correction, reduced_where

_READ = re.compile(r"[^\W\d]\w*\s*\[([^\[\]]*)\](?!\s*\()")
_TARGET = re.compile(r"[^\W\d]\w*\s*(?:\[[^\[\]]*\])?")
_TARGETS = re.compile(rf"\s*({_TARGET.pattern}(?:\s*,\s*{_TARGET.pattern})+)\s*=(?!=)\s*")
_WORD = re.compile(r"[^\W\d]\w*")


def _without_a_left_side(formula: Formula) -> Iterator[Correction]:
    """The result has the indices that occur once, as einsum's without an arrow."""
    for line in formula.lines():
        if line.name or formula[line.value].startswith("assume "):
            continue
        found: list[str] = []
        for read in _READ.finditer(formula[line.value]):
            found += dict.fromkeys(_WORD.findall(read[1]))
        names = [name for name in dict.fromkeys(found) if found.count(name) == 1]
        names = [name for name in names if name not in formula.shapes]
        bound = re.findall(r"\w+\s*\[([^\[\]]*)\]\s*\(", formula[line.value])
        names = [name for name in names if name not in _WORD.findall(",".join(bound))]
        result = next(name for name in results() if name not in formula.words())
        target = indexed(result, names)
        start = line.value[0]
        written = re.match(r"(?:=|return\b)\s*", formula[line.value])
        end = start + len(written[0]) if written else start
        yield Correction(((start, end, f"{target} = "),), (start, max(end, start + 1)))


def _several_at_once(formula: Formula) -> Iterator[Correction]:
    """`Y[i], Z[i] = x[i], 2*x[i]`."""
    for line in formula.lines():
        found = _TARGETS.match(formula[(line.start, line.end)])
        if found is None or line.name:
            continue
        values = formula.items((line.start + found.end(), line.value[1]))
        targets = _TARGET.findall(found[1])
        if len(values) == len(targets):
            clause = formula[(line.value[1], line.end)]
            pairs = zip(targets, values, strict=True)
            new = "; ".join(f"{target} = {formula[value]}{clause}" for target, value in pairs)
            yield Correction(((line.start, line.end, new),), (line.start, values[0][0]))


def _without_an_equal_sign(formula: Formula) -> Iterator[Correction]:
    """`Y[i] 2*x[i]`."""
    for line in formula.lines():
        found = re.match(r"[^\W\d]\w*\s*\[[^\[\]]*\](?=\s)", formula[(line.start, line.end)])
        if found and not line.name and not formula.rank(re.split(r"\W", found[0])[0]):
            end = line.start + found.end()
            yield Correction(((end, end, " ="),), (end, end + 1))


def _outputs_at_the_end(formula: Formula) -> Iterator[Correction]:
    """`Y[i] = ...; Z[i] = ...; out Y, Z`."""
    for found in re.finditer(r"[;\n]\s*out\s+(\w+(?:\s*,\s*\w+)*)\s*(?=[;\n]|$)", formula.text):
        names = _WORD.findall(found[1])
        starts = [line.start for line in formula.lines() if line.name in names]
        if len(starts) == len(names):
            span = found.start(1), found.end(1)
            edits = ((found.start(), found.end(), ""), *((at, at, "out ") for at in starts))
            yield Correction(edits, span)


def _too_early(formula: Formula) -> Iterator[Correction]:
    """`Y[i] = 2*T[i]; T[i] = x[i]`: the later statement first."""
    lines = list(formula.lines())
    for number, line in enumerate(lines):
        for later in lines[number + 1 :]:
            if later.name and re.search(rf"\b{re.escape(later.name)}\b", formula[line.value]):
                text = formula[(later.start, later.end)]
                end = lines[lines.index(later) - 1].end
                edits = ((end, later.end, ""), (line.start, line.start, f"{text}; "))
                yield Correction(edits, line.value)


def _recurrences(formula: Formula) -> Iterator[Correction]:
    """`Y[t] = c*Y[t-1] + x[t]`, from Y[-1] = 0 on: the sum of c^(t-s)*x[s] for s up to t."""
    for line in formula.lines():
        if len(line.left) != 1:
            continue
        (t,), before = line.left, rf"{re.escape(line.name)}\s*\[\s*{line.left[0]}\s*-\s*1\s*\]"
        step = rf"(?:(?P<c>[\d.]+|[^\W\d]\w*|\([^()]*\))\s*\*\s*)?{before}"
        for form in (rf"{step}\s*\+\s*(?P<x>.+)", rf"(?P<x>.+?)\s*\+\s*{step}"):
            found = re.fullmatch(form, formula[line.value])
            if found is None or re.search(rf"\b{re.escape(line.name)}\b", found["x"]):
                continue
            (s,) = formula.fresh(1)
            body = re.sub(rf"\b{t}\b", s, found["x"])
            if found["c"]:
                body = f"{found['c']}^({t}-{s})*({body})"
            new = reduced_where("sum", s, f"{s} <= {t}", body)
            yield Correction(((*line.value, new),), line.value)


def _indexed_values(formula: Formula) -> Iterator[Correction]:
    """`(A[i,k]*x[k])[i]` without its indices; `softmax[k](A[i,k])[i,I[i]]` as a statement of its
    own, which is read there."""
    for found in re.finditer(r"\)\s*\[", formula.text):
        close, opening = found.start() + 1, found.end() - 1
        start, end = formula.operand_before(close), formula.closing(opening)
        if start < 0 or end < 0:
            continue
        indices = [formula[item] for item in formula.items((opening + 1, end - 1))]
        own = formula.iterators((start, close))
        if indices == [name for name in own if name in indices]:
            yield Correction(((opening, end, ""),), (opening, end))
        if len(own) == len(indices):
            name = next(name for name in results() if name not in formula.words())
            line = formula.line_at(start)
            first = f"{indexed(name, own)} = {formula[(start, close)]}; "
            edits = ((line.start, line.start, first), (start, opening, name))
            yield Correction(edits, (opening, end))
