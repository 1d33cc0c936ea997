"""Left sides: missing, with several brackets, or with an operator before the next statement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula, indexed, results
from einderive.ta.mistakes.mistake import Correction, Mistake, pattern

_READ = re.compile(r"[^\W\d]\w*\s*\[([^\[\]]*)\](?!\s*\()")
_TRAILING = re.compile(r"[-+*/^,]\s*(?=\s[^\W\d]\w*\s*(?:\[[^\[\]]*\])?\s*=(?!=)|\Z)")
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


def _an_operator_before_the_next_line(formula: Formula) -> Iterator[Correction]:
    """`Y[i] = x[i] +` before another statement, which then continues it."""
    for found in _TRAILING.finditer(formula.text):
        yield Correction(((found.start(), found.start() + 1, ""),))


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


def _chained_brackets(formula: Formula) -> Iterator[Correction]:
    edits = [
        (found.start(), found.end(), ",")
        for found in re.finditer(r"(?<=\w)\s*\]\s*\[\s*", formula.text)
    ]
    if edits:
        yield Correction(tuple(edits))


MISTAKES = (
    Mistake(
        "the indices of a tensor stand in one pair of brackets",
        "separate them by commas",
        _chained_brackets,
    ),
    Mistake("`out` stands before a statement", "write it there", _outputs_at_the_end),
    pattern("`where` belongs to the statement before it", "write", r"\s*[;,]\s*(?=where\b)", " "),
    pattern(
        "a statement begins with its result, without a word before it",
        "write",
        r"(?:^|(?<=[;\n]))\s*(?:let|def|var|const|auto|val|set|double|float|int)\s+(?=\w+\s*[\[(=])",
        "",
    ),
    pattern("a formula is written with `=`", "write", r"\)\s*:\s*return\b", ") ="),
    pattern("", "write", r"(?<==)\s*[*/+]\s*(?=[\w(])", " "),
    pattern(
        "an assumption is a line of its own",
        "begin it behind `;` or a new line",
        r"(?<=[^\s;])[^\S\n]*,?[^\S\n]+(?P<at>assum(?:e|es|ing))\b(?=[^;\n]*[<>=!])",
        "; assume",
    ),
    pattern(
        "an assumption is said of a tensor, that is of all its elements",
        "write its name alone",
        r"(\bassume\b[^;\n\[]*?\w)(?P<at>\[[^\[\]]*\])",
        r"\1",
    ),
    pattern(
        "the promises of an assumption stand side by side",
        "separate them by commas",
        r"(\bassume\b[^;\n]*?)\s+(?P<at>and|&&?)(?=\s)",
        r"\1,",
    ),
    pattern(
        "an assumption is a line of its own",
        "end it by `;` or a new line",
        r"(\bassume\b[^;\n]*?[<>=]\s*-?[\w.]+)\s+(?=\w+\s*(?:\[[^\[\]]*\])?\s*=(?!=))",
        r"\1; ",
    ),
    pattern(
        "a comment begins with `#`",
        "without it",
        r"\s*/\*.*?\*/|\s*//\s*[A-Za-z]{2,}(?:[^\S\n]+\w+)+(?=\n|$)",
        "",
    ),
    Mistake("each statement has one result", "write two", _several_at_once),
    Mistake("", "write `=` between the result and the formula", _without_an_equal_sign),
    Mistake(
        "the formula has no left side",
        "begin with the result and its indices",
        _without_a_left_side,
    ),
    Mistake(
        "`{found}` at the end of a line continues the statement on the next line",
        "take it away, or complete the statement",
        _an_operator_before_the_next_line,
    ),
)
