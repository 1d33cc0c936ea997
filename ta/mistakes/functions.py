"""Functions under other names, powers and remainders, and what the notation does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.functions import FUNCTIONS
from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake, pattern

_MEANT: Mapping[str, tuple[str, ...]] = {
    **{
        f"arc{name}": (f"a{name}({{0}})",) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **dict.fromkeys(("ln", "logn"), ("log({0})",)),
    **dict.fromkeys(("fabs", "absolute"), ("abs({0})",)),
    **dict.fromkeys(("expit", "logistic"), ("sigmoid({0})",)),
    **dict.fromkeys(("power", "pow"), ("({0})^({1})", "exp(({1})*log({0}))")),
    **dict.fromkeys(("square", "sqr", "sq"), ("({0})^2",)),
    **dict.fromkeys(("reciprocal", "inv"), ("1/({0})",)),
    **dict.fromkeys(("add", "plus"), ("({0} + {1})",)),
    **dict.fromkeys(("subtract", "sub", "minus"), ("({0} - ({1}))",)),
    **dict.fromkeys(("multiply", "mul", "times"), ("({0})*({1})",)),
    **dict.fromkeys(("divide", "div", "true_divide"), ("({0})/({1})",)),
    **dict.fromkeys(("negative", "neg"), ("(-({0}))",)),
    **dict.fromkeys(("mod", "remainder", "fmod"), ("({0})%{1}", "({0} - {1}*floor(({0})/{1}))")),
    **dict.fromkeys(("floor_divide", "floordiv"), ("({0})//{1}", "floor(({0})/{1})")),
    **dict.fromkeys(("select", "ifelse", "iif", "cond", "If", "IF"), ("where({0}, {1}, {2})",)),
    **dict.fromkeys(("clip", "clamp"), ("minimum(maximum({0}, {1}), {2})",)),
    "max": ("maximum({0}, {1})", "maximum(maximum({0}, {1}), {2})"),
    "min": ("minimum({0}, {1})", "minimum(minimum({0}, {1}), {2})"),
    "cbrt": ("({0})^(1/3)", "sign({0})*exp(log(abs({0}))/3)"),
    "int": ("trunc({0})",),
    "leaky_relu": ("maximum({0}, 0.01*({0}))",),
}
"""What is written instead of a function that the notation has under another name, or not at all;
the first one that can be read is proposed."""

_ELSEWHERE = (
    *("sort", "argsort", "topk", "median", "nanmedian", "quantile", "percentile", "unique", "mode"),
    *(
        "kthvalue",
        "searchsorted",
        "histogram",
        "bincount",
        "nonzero",
        "fft",
        "ifft",
        "rfft",
        "inverse",
    ),
    *("det", "solve", "svd", "eig", "cholesky", "qr", "pinv", "lstsq", "rand", "randn", "dropout"),
)


_OF_THE_SAME_SHAPE = ("sort", "argsort", "dropout", "fft", "ifft", "inverse", "pinv")
_KNOWN = (*FUNCTIONS, *dict.fromkeys(name for name, _ in DEFINITIONS))


def _other_names(formula: Formula) -> Iterator[Correction]:
    for call in formula.calls(*_MEANT):
        args = [formula[arg] for arg in call.args]
        for meant in _MEANT[call.name]:
            if len(args) == len(set(re.findall(r"\{\d\}", meant))):
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
        if call.name in {*_KNOWN, *_MEANT, *_ELSEWHERE, *formula.shapes}:
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


def _remainders(formula: Formula) -> Iterator[Correction]:
    """`x[i]//2`, `x[i]%2` of values."""
    for found in re.finditer(r"\s*(//|%)\s*", formula.text):
        start, end = formula.operand_before(found.start()), formula.operand_after(found.end())
        if start < 0 or end < 0:
            continue
        left, right = formula.text[start : found.start()], formula[(found.end(), end)]
        place = (found.start(), found.end())
        rounded = f"floor({left}/{right})"
        text = rounded if found[1] == "//" else f"({left} - {right}*{rounded})"
        yield Correction(((start, end, text),), place)


MISTAKES = (
    Mistake("`{found}` has another name here, or is written otherwise", "write", _other_names),
    Mistake(
        "`{found}` is not part of the notation",
        "compute it before, and pass the result as a tensor of its own",
        _not_supported,
    ),
    Mistake("", "a power of a power needs brackets, or the product of the exponents", _towers),
    Mistake("", "values are rounded by floor", _remainders),
    pattern("`{found}` is written `%`", "write", r"\s+(?:mod|MOD|rem)\s+", "%"),
    Mistake("the operand of a function stands in round brackets", "write", _without_brackets),
    pattern(
        "",
        "say what holds elsewhere",
        r"\bwhere\(((?:[^(),]|\([^()]*\))*),((?:[^(),\[]|\([^()]*\)|\[[^\[\]]*\])*)\)",
        r"where(\1,\2, 0)",
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
