"""Characters and words of other languages that stand for one of the notation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import partial

from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, replaced, spelled

_LIKE, _SIGNS, _WORDS = map(spelled, ("letters", "signs", "symbols"))


def _one_of(written: str) -> str:
    """A character as the notation has it, or itself."""
    known = _WORDS | _SIGNS | _LIKE
    if written in known:
        return known[written]
    if written.isascii() or "⁰" <= written <= "⁹" or written in "¹²³⁴⁻…·×":
        return written
    normal = unicodedata.normalize("NFKC", written)
    if unicodedata.decomposition(written).startswith("<sub>") and normal.isalpha():
        return f"_{normal}"
    return normal if normal.isascii() else written


def _characters(formula: Formula, *, words: bool = False) -> Iterator[Correction]:
    """All of them at once; `words`: the first one is written with letters."""
    pairs = ((place, letter, _one_of(letter)) for place, letter in enumerate(formula.text))
    edits = tuple((at, at + 1, new) for at, letter, new in pairs if new != letter)
    edits = tuple(
        (at, end, new.rstrip() if formula.text[end : end + 1] == "(" else new)
        for at, end, new in edits
    )
    if edits and words is (formula.text[edits[0][0]] in _WORDS):
        yield Correction(edits)
        normal = (e for e in edits if formula.text[e[0]] not in _LIKE)
        yield from [Correction(each) for each in [tuple(normal)] if each]


def _marks(formula: Formula) -> Iterator[Correction]:
    """Letters with their marks as one character."""
    whole = unicodedata.normalize("NFC", formula.text)
    if whole != formula.text:
        place = next(
            at for at, (a, b) in enumerate(zip(whole, formula.text, strict=False)) if a != b
        )
        yield Correction(((0, len(formula.text), whole),), (place, place + 1))


_DIGITS = spelled("digits")
_DIGIT_OPERATOR = re.compile(r"(?<![&|<>])(?:<<|>>|&|\|)(?![&|<>=])|~(?!=)")


def _of_digits(formula: Formula) -> Iterator[Correction]:
    """`A[i] & 1`, `A[i] << 1`, `~A[i]`, of what is no comparison."""
    for found in _DIGIT_OPERATOR.finditer(formula.text):
        before, after = formula.text[: found.start()].rstrip(), found.end()
        after += len(formula.text[after:]) - len(formula.text[after:].lstrip())
        end = formula.operand_after(after)
        start = found.start() if found[0] == "~" else formula.operand_before(len(before))
        if min(start, end) < 0:
            continue
        compared = re.search(r"(?:[<>]=?|[=!]=)\s*\Z", formula.text[:start])
        compared = compared or re.match(r"\s*[<>=!]", formula.text[end:])
        if compared or re.search("[<>=]", formula.text[start:end].replace(found[0], " ")):
            continue
        right = formula.text[after:end]
        new = f"bitwise_invert({right})"
        if found[0] != "~":
            new = f"{_DIGITS[found[0]]}({before[start:]}, {right})"
        yield Correction(((start, end, new),), found.span())


_TIMES_I = re.compile(r"(?<![\w.])(\d+\.?\d*|\.\d+)[iI](?![\w\[(])")


def _imaginary(formula: Formula) -> Iterator[Correction]:
    """`1i`, and `2i` where no index is called i: there it is a product."""
    is_index = re.search(r"\[(?:[^\[\]]*\W)?i\b", formula.text) is not None
    for found in _TIMES_I.finditer(formula.text):
        if not is_index or float(found[1]) == 1:
            yield Correction(((*found.span(), f"{found[1]}j"),))


_with_letters = partial(_characters, words=True)
_quoted = replaced(
    r"(['\"`])([\w\[\],:]*)\1|['\"`](?=\s*(?:[\[(=;\n]|$))|(?<!\w)['\"`]",
    lambda found: found[2] or "",
)
_joined = replaced(
    r"&&?|\|\|?|[~!](?!=)",
    lambda found: {"&": " and ", "|": " or "}.get(found[0][0], "not "),
)
