"""Advice for a text that is not in the notation, made from the place where the parser stopped."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from unicodedata import category, name

from einderive.ta.listing import beside

_COMPLETE = "complete the formula, or take away what stands before its end"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_GIVEN = beside(__name__)
_SPOKEN = _GIVEN["terminals"]
_CHARACTERS = {sign: said for said, signs in _GIVEN["characters"].items() for sign in signs.split()}
_LEGAL = "names are letters, digits and _; operators are + - * / ^, and in indices // and %"
_WORDS = frozenset({"IN", "WHERE", "AND", "OR", "NOT", "INF"})
_OPERATORS = {"SIGN", "TIMES", "POWER", "SUPERSCRIPT", "COMPARE", "AND", "OR"}
"""Left out of a list that says `an operator`, as are the brackets that may follow a name."""
_BEGINNINGS = {"NAME", "NUMBER", "LPAR"}


def words_for(terminals: Iterable[str]) -> str:
    """The acceptable terminals in a few words."""
    names = set(terminals)
    words: list[str] = []
    if names >= _BEGINNINGS:
        words.append("an expression")
        names -= {*_BEGINNINGS, "SIGN", "NOT", "INF", "LBRACE", "WHERE"}
    if "TIMES" in names:
        words.append("an operator")
        names -= _OPERATORS | {"LPAR", "LSQB", "LBRACE"}
    if "$END" in names:
        names.discard("SEPARATOR")
    words += [word for name, word in _SPOKEN.items() if name in names]
    if "SIGN" in names and "NUMBER" in names:
        words.remove(_SPOKEN["NUMBER"])
        words.append("an integer")
    return ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + "".join(words[-1:])


def explain_character(character: str) -> tuple[str, str]:
    """Explains a character that the notation does not have, and says what to write instead."""
    code = f"U+{ord(character):04X}"
    if category(character).startswith("M"):
        what = f"{code} ({name(character, 'a mark')}) on its own"
        return f"the notation has no {what}", "write the letter with its mark as one character"
    if not character.isprintable():
        known = name(character, "not visible")
        return (f"the notation has no character {code} ({known})", "delete it")
    return f"the notation has no character `{character}`", _CHARACTERS.get(character, _LEGAL)


def advice(kind: str, token: str, expected: Collection[str], before: str) -> str:
    """The next step for a text that has a token of this kind where the parser expects others."""
    waiting = unclosed(before)
    if token in _PAIRS and _PAIRS[token] not in waiting[-1:]:
        if not waiting:
            return f"take `{token}` away, or open its `{_PAIRS[token]}` before"
        return f"close `{waiting[-1]}` first, or take `{token}` away"
    if kind in ("EQUAL", "COMPARE", "COLON") and "EQUAL" in expected:
        return "write `=` after the output: `Y[i] = ...`"
    if kind == "COLON" and waiting:
        return "name an iterator; its range follows the statement: `where k in 0:8`"
    if kind == "EQUAL":
        return "a statement has one `=`; the next one begins after `;` or on a new line"
    if "EQUAL" in expected:
        return "begin with the output: `Y[i] = ...`"
    if kind in _WORDS and "NAME" in expected:
        return f"`{token}` is a word of the notation: choose another name"
    if kind in ("NAME", "NUMBER", "LPAR", "LBRACE") and "TIMES" in expected:
        return "write products with `*`"
    if kind == "POWER" and "TIMES" in expected:
        return "put brackets around one of the powers"
    if kind == "ELLIPSIS":
        return "`...` can only be the first index of a tensor: A[...,i]"
    if kind in ("TIMES", "SIGN", "POWER", "COMPARE"):
        return f"take `{token}` away, or write a value before it"
    if waiting and (kind in _WORDS or token == ";"):
        return f"close `{waiting[-1]}` before `{token}`"
    if token == "\n":
        return "end the line where a statement ends, or inside brackets"
    return f"take `{token[:40]}` away, or complete what stands before it"


def advice_at_the_end(expected: Collection[str], text: str) -> str:
    """The next step for a text that ends too early."""
    waiting = unclosed(text)
    if waiting:
        return f"{_COMPLETE}; `{waiting}` is still open"
    if expected and set(expected) <= {"COLON"}:
        return "a range has two ends, the second one left out: `0:16`"
    if "EQUAL" in expected:
        return "a statement is, for example, `Y[i] = 2*A[i]`"
    return _COMPLETE


def unclosed(text: str) -> str:
    """The brackets that are open at the end of a text, the innermost last."""
    waiting: list[str] = []
    for letter in text:
        if letter in "([{":
            waiting.append(letter)
        elif letter in ")]}" and waiting:
            waiting.pop()
    return "".join(waiting)
