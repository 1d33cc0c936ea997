"""Functions under other names, powers and remainders, and what the notation does not have."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import numpy as np

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.functions import FUNCTIONS
from einderive.ta.mistakes.arrays import CALLED
from einderive.ta.mistakes.formula import Called, Formula, indexed
from einderive.ta.mistakes.mistake import WORDS, Correction, replaced

_MEANT: dict[str, list[str]] = {
    f"arc{name}": [f"a{name}({{0}})"] for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
}
"""What is written instead of a function that the notation has under another name, or not at all;
the first one that can be read is proposed.  `clamp min=`: with an operand given by this name."""
for _meant, _names in WORDS["functions"].items():
    for _name in _names.split(", "):
        _MEANT.setdefault(_name, []).append(_meant)

_NAMED = re.compile(r"(?:(\w+)\s*=(?!=)\s*)?(.*)", re.DOTALL)
_ELSEWHERE = WORDS["elsewhere"]["names"].split()
_REDUCER = re.compile(rf"(?<![\w.])({'|'.join(_ELSEWHERE)})\s*\[[^\[\]]*\]\s*\(")
_OF_AS_MANY_DIMENSIONS = WORDS["elsewhere"]["of_as_many_dimensions"].split()
_DRAWN = WORDS["elsewhere"]["drawn"].split()
_KNOWN = (*FUNCTIONS, *dict.fromkeys(name for name, _ in DEFINITIONS))


def _other_names(formula: Formula) -> Iterator[Correction]:
    for call in formula.calls():
        if formula.rank(call.name) is not None:  # a tensor of this name
            continue
        parts = [_NAMED.fullmatch(formula[arg]) for arg in call.args]
        args = [part[2] for part in parts if part]
        key = " ".join([call.name, *(f"{part[1]}=" for part in parts if part and part[1])])
        for meant in _MEANT.get(key, ()):
            if len(args) == len(parts) == len(set(re.findall(r"\{\d\}", meant))):
                plain = [arg if re.fullmatch(r"[\w.]+(\[[^\[\]]*\])?", arg) else "" for arg in args]
                text = meant
                for number, (arg, simple) in enumerate(zip(args, plain, strict=True)):
                    if simple:  # needs no brackets but those of a call
                        text = re.sub(rf"(?<!\w)\(\{{{number}\}}\)", f"{{{number}}}", text)
                    text = text.replace(f"{{{number}}}", arg)
                yield Correction(((*call.span, text),), call.head)


def _nearly_known(formula: Formula) -> Iterator[Correction]:
    """`epx`, `Exp`, `ReLU`.  A name that NumPy or Python has too is no slip."""
    for call in formula.calls():
        if call.name in {*_KNOWN, *_MEANT, *_ELSEWHERE, *_GRADIENTS, *CALLED, *formula.shapes}:
            continue
        if not call.name.isascii() or hasattr(np, call.name) or hasattr(builtins, call.name):
            continue
        for name in get_close_matches(call.name.lower(), _KNOWN, n=3, cutoff=0.65):
            yield Correction(((*call.head, name),))


def _elsewhere(formula: Formula) -> Iterator[Called]:
    """`sort(x)`, `median[k](x)`."""
    yield from formula.calls(*_ELSEWHERE)
    for found, inside in formula.bracketed(_REDUCER):
        yield Called(found[1], (found.start(), inside[1] + 1), formula.items(inside))


_GRADIENTS = ("grad", "nabla", "gradient", "jacobian", "hessian", "backward", "autograd")


def _gradients(formula: Formula) -> Iterator[Correction]:
    """`grad(x)` as a further input."""
    yield from _as_inputs(formula, formula.calls(*_GRADIENTS))


def _not_supported(formula: Formula) -> Iterator[Correction]:
    """`sort(x)` as a further input."""
    yield from _as_inputs(formula, _elsewhere(formula))


def _as_inputs(formula: Formula, calls: Iterable[Called]) -> Iterator[Correction]:
    for call in calls:
        arg = formula[call.args[0]] if call.args else ""
        line = formula.line_at(call.span[0])
        if call.name in _DRAWN:
            drawn = f"{call.name}_values"
            made = (*call.span, indexed(drawn, line.left))
            yield Correction((made,), call.head, new=drawn)
            continue
        name = re.match(r"[^\W\d]\w*", arg)
        if name is None:
            continue
        if formula.text[call.span[1] :].lstrip().startswith("["):  # `sort(x)[i]`
            yield Correction(((*call.span, f"{call.name}_of_{name[0]}"),), call.head)
            continue
        left, rank = line.left, formula.rank(arg) if call.name in _OF_AS_MANY_DIMENSIONS else None
        if rank is not None and rank != len(left):
            left = formula.fresh(rank)
        edits = [(*call.span, indexed(f"{call.name}_of_{name[0]}", left))]
        if left != line.left:
            edits.append((*line.target, f"{indexed(line.name, left)} "))
        yield Correction(tuple(edits), call.head)


def _without_brackets(formula: Formula) -> Iterator[Correction]:
    """`tanh x[i]`."""
    for found in re.finditer(r"\b([^\W\d]\w*)[^\S\n]+(?=\w)", formula.text):
        end = formula.operand_after(found.end())
        if found[1] in FUNCTIONS and end > 0:
            new = f"{found[1]}({formula[(found.end(), end)]})"
            yield Correction(((found.start(), end, new),))


_compared_with_nan = replaced(
    r"(?<==)\s*([^=;\n]*?[\])\w])(?P<at>\s+is\s+(not\s+)?(?:nan|NaN|None)\b)",
    lambda found: f" {'not ' if found[3] else ''}isnan({found[1].strip()})",
)
_towers = replaced(
    r"(?:(?<=\^)|(?<=\*\*))\s*(\d)\s*(?:\^|\*\*)\s*(\d)\b",
    lambda found: str(int(found[1]) ** int(found[2])),
)
"""`x^2^3` as `x^8`."""
