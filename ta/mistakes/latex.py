"""Formulas as LaTeX has them: the same in the notation, with sums over what follows them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.listing import beside
from einderive.ta.mistakes.formula import Formula, top_places
from einderive.ta.mistakes.mistake import Correction

_LATEX = re.compile(r"\\[a-zA-Z]+|[_^]\s*\{|\\[,;! ]|\b[A-Za-z]\w*_\{?[a-z]|[\u2211\u220f]\s*_")
_GIVEN = beside(__name__)
_TEXTS = {
    written.replace("(?&ARGUMENT)", _GIVEN["parts"]["ARGUMENT"]): meant
    for written, meant in _GIVEN["texts"].items()
}
_SUMMED = re.compile(
    r"(?:\\(sum|prod|max|min)\b|\b(sum|prod|max|min)|([\u2211\u220f]))\s*_\s*"
    r"(?:\{([^{}]*)\}|(\w))\s*(?:\^\s*(?:\{([^{}]*)\}|(\w+)))?\s*"
)
_INDEXED = re.compile(r"(?<!\\)\b([^\W\d_]\w*?)\s*_\s*(?:\{([^{}]*)\}|([^\W_]))")
_SIGNS = {"\u2211": "sum", "\u220f": "prod"}


def _translated(formula: Formula) -> Iterator[Correction]:
    found = _LATEX.search(formula.text)
    if found is None:
        return
    text = formula.text
    for _ in range(4):  # fractions within fractions
        for written, meant in _TEXTS.items():
            text = re.sub(written, meant, text)
    text = _sums(text)
    text = _INDEXED.sub(lambda each: f"{each[1]}[{_names(each[2] or each[3])}]", text)
    text = re.sub(r"\^\s*\{([^{}]*)\}", r"^(\1)", text)
    text = re.sub(r"\^\((-?\w+)\)", r"^\1", text)
    text = re.sub(r"\\([a-zA-Z]+)\s*(\^\S+\s*)?(?=\()", r"\1", text)
    text = re.sub(r"\\(exp|log|sin|cos|tan|tanh|sinh|cosh)\s*(\w+(?:\[[^\]]*\])?)", r"\1(\2)", text)
    text = re.sub(r"\\([a-zA-Z]+)", r"\1", text)
    text = re.sub(r"\{([^{}]*)\}", r"(\1)", text)
    yield Correction(((0, len(formula.text), text),), found.span())


def _names(written: str) -> str:
    """`ik` as `i,k`; what has commas or operators stays."""
    compact = written.replace(" ", "")
    return ",".join(compact) if compact.isalpha() else compact


def _sums(text: str) -> str:
    """`\\sum_{k=0}^{n-1} f` as `sum[k](f)`: over the product that follows."""
    clauses: list[str] = []
    while (found := _SUMMED.search(text)) is not None:
        word = found[1] or found[2] or _SIGNS[found[3]]
        below = (found[4] or found[5]).replace(" ", "")
        name, _, low = below.partition("=")
        above = (found[6] or found[7] or "").replace(" ", "")
        if low.isdigit() and above.isdigit():
            clauses.append(f"{name} in {low}:{int(above) + 1}")
        elif low.isdigit() and re.fullmatch(r"\d+-1", above):
            clauses.append(f"{name} in {low}:{above[:-2]}")
        end = _end_of_product(text, found.end())
        body = text[found.end() : end].strip()
        text = f"{text[: found.start()]}{word}[{_names(name)}]({body}){text[end:]}"
    return text + (f" where {', '.join(clauses)}" if clauses else "")


def _end_of_product(text: str, start: int) -> int:
    for place in top_places(text, (start, len(text))):
        if text[place] in ")]}" or (text[place] in "+-=;\n" and text[start:place].strip()):
            return place
    return len(text)
