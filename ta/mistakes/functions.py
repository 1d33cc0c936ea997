"""Functions under other names, powers and remainders, and what the notation does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.functions import FUNCTIONS
from einderive.ta.mistakes.arrays import WORDS
from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake, pattern

_TABLE = """
ln, logn: log({0})
fabs, absolute: abs({0})
expit, logistic: sigmoid({0})
gammaln, loggamma: lgamma({0})
psi: digamma({0})
gamma: exp(lgamma({0}))
factorial: exp(lgamma({0} + 1))
power: ({0})^({1})
sqr, sq: ({0})^2
inv: 1/({0})
add, plus: ({0} + {1})
subtract, sub, minus: ({0} - ({1}))
multiply, mul, times: ({0})*({1})
divide, div, true_divide: ({0})/({1})
negative, neg: (-({0}))
positive, pos: ({0})
lt: ({0} < {1})
le: ({0} <= {1})
gt, greater: ({0} > {1})
ge, greater_equal: ({0} >= {1})
eq, delta, kron, kronecker, KroneckerDelta: ({0} == {1})
ne, logical_xor: ({0} != {1})
logical_and, bitwise_and: ({0} and {1})
logical_or, bitwise_or: ({0} or {1})
logical_not, bitwise_not, invert: (not {0})
mod: ({0})%{1}
select, ifelse, iif, cond, If, IF: where({0}, {1}, {2})
clip, clamp, clamp_min, clamp min=, clip min=: maximum({0}, {1})
clamp_max, clamp max=, clip max=: minimum({0}, {1})
clamp, clamp min= max=: clip({0}, {1}, {2})
int: trunc({0})
round: (round({0}*10^{1})/10^{1})
"""
_MEANT: dict[str, list[str]] = {
    f"arc{name}": [f"a{name}({{0}})"] for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
}
"""What is written instead of a function that the notation has under another name, or not at all;
the first one that can be read is proposed.  `clamp min=`: with an operand given by this name."""
for _names, _meant in (line.split(": ") for line in _TABLE.strip().splitlines()):
    for _name in _names.split(", "):
        _MEANT.setdefault(_name, []).append(_meant)

_NAMED = re.compile(r"(?:(\w+)\s*=(?!=)\s*)?(.*)", re.DOTALL)
_OTHERS = """
sort argsort topk median nanmedian quantile percentile unique mode kthvalue searchsorted nonzero fft
ifft rfft inverse det solve svd eig cholesky qr pinv lstsq rand randn dropout
"""
_ELSEWHERE = _OTHERS.split()
_OF_THE_SAME_SHAPE = ("sort", "argsort", "topk", "unique", "dropout", "fft", "ifft", "inverse")
_KNOWN = (*FUNCTIONS, *dict.fromkeys(name for name, _ in DEFINITIONS))


def _other_names(formula: Formula) -> Iterator[Correction]:
    for call in formula.calls():
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
                place = (call.span[0], call.span[0] + len(call.name))
                yield Correction(((*call.span, text),), place)


def _nearly_known(formula: Formula) -> Iterator[Correction]:
    """`epx`, `Exp`, `ReLU`."""
    for call in formula.calls():
        if call.name in {*_KNOWN, *_MEANT, *_ELSEWHERE, *WORDS, *formula.shapes}:
            continue
        for name in get_close_matches(call.name.lower(), _KNOWN, n=3, cutoff=0.6):
            yield Correction(((call.span[0], call.span[0] + len(call.name), name),))


def _not_supported(formula: Formula) -> Iterator[Correction]:
    """`sort(x)` as a further input."""
    for call in formula.calls(*_ELSEWHERE):
        arg = formula[call.args[0]] if call.args else ""
        name = re.match(r"[^\W\d]\w*", arg)
        if name is None:
            continue
        line = formula.line_at(call.span[0])
        left, rank = line.left, formula.rank(arg) if call.name in _OF_THE_SAME_SHAPE else None
        if rank is not None and rank != len(left):
            left = formula.fresh(rank)
        indices = f"[{','.join(left)}]" if left else ""
        edits = [(*call.span, f"{call.name}_of_{name[0]}{indices}")]
        if left != line.left:
            edits.append((*line.target, f"{line.name}{indices} "))
        place = (call.span[0], call.span[0] + len(call.name))
        yield Correction(tuple(edits), place)


def _towers(formula: Formula) -> Iterator[Correction]:
    """`x^2^3` as `x^8`."""
    for found in re.finditer(
        r"(?<=\^)\s*(\d)\s*\^\s*(\d)\b|(?<=\*\*)\s*(\d)\s*\*\*\s*(\d)\b", formula.text
    ):
        base, exponent = (int(each) for each in found.groups() if each)
        yield Correction(((found.start(), found.end(), str(base**exponent)),))


def _without_brackets(formula: Formula) -> Iterator[Correction]:
    """`tanh x[i]`."""
    for found in re.finditer(r"\b([^\W\d]\w*)[^\S\n]+(?=\w)", formula.text):
        end = formula.operand_after(found.end())
        if found[1] in FUNCTIONS and end > 0:
            new = f"{found[1]}({formula[(found.end(), end)]})"
            yield Correction(((found.start(), end, new),))


MISTAKES = (
    Mistake("`{found}` has another name here, or is written otherwise", "write", _other_names),
    Mistake(
        "`{found}` is not part of the notation",
        "compute it before, and pass the result as a tensor of its own",
        _not_supported,
    ),
    Mistake("", "a power of a power needs brackets, or the product of the exponents", _towers),
    pattern("`{found}` is written `%`", "write", r"\s+(?:mod|MOD|rem)\s+", "%"),
    Mistake("the operand of a function stands in round brackets", "write", _without_brackets),
    pattern(
        "",
        "say what holds elsewhere",
        r"\bwhere\(((?:[^(),]|\([^()]*\))*),((?:[^(),\[]|\([^()]*\)|\[[^\[\]]*\])*)\)",
        r"where(\1,\2, 0)",
    ),
    pattern(
        "`{found}` is not how the notation writes a norm",
        "write norm[k](...)",
        r"(?:\|\||‖)([^|‖\n;=]+)(?:\|\||‖)(?:_2)?",
        r"norm(\1)",
    ),
    pattern(
        "`{found}` is not how the notation writes an absolute value",
        "write abs(a)",
        r"(?<!\|)\|([^|\n;=]+)\|(?!\|)",
        r"abs(\1)",
    ),
    pattern(
        "`{found}` is no name of a constant here",
        "write",
        r"(?<![\w.])e\s*(?:\^|\*\*)\s*(\([^()]*\)|[\w.]+(?:\[[^\[\]]*\])?)",
        r"exp(\1)",
    ),
    pattern(
        "`{found}` is no name of a constant here",
        "write",
        r"(?<![\w.\[])(?:PI|Pi|π)(?![\w\[(])",
        "pi",
    ),
    pattern(
        "`{found}` is written otherwise here",
        "write",
        r"(?<![\w.])(?:Inf|infinity|INF|Infinity)(?![\w\[(])",
        "inf",
    ),
    Mistake("", "", _nearly_known),
)
