"""Arguments as words, `A=64,32` and `h=0:56`, read into values.

Every refusal shows the word with a caret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from einderive.ta.errors import TextError
from einderive.ta.ir.dtypes import DTYPES
from einderive.ta.ir.names import close_matches

SHAPE_HELP = "write a shape as NAME=SIZE,SIZE,...: A=1,512,7,7; a scalar is A="
RANGE_HELP = "write a range as NAME=FROM:TO, the end left out: h=0:56"
_NAME = re.compile(r"[A-Za-z_]\w*")
_SIZE = re.compile(r"[0-9]{1,400}")
_BOUND = re.compile(r"-?[0-9]{1,400}")


class UsageError(TextError):
    """A command line that cannot be read."""


def shapes(words: Sequence[str], names: bool = False) -> dict[str, tuple[Any, ...]]:
    """`A=1,512,7,7 b=` -> shapes by name; with `names` sizes may be names: `A=n,3`."""
    found: dict[str, tuple[Any, ...]] = {}
    for word in words:
        name, _, sizes = _named(word, found, "the shape", SHAPE_HELP)
        found[name] = tuple(
            part.strip()
            if names and _NAME.fullmatch(part.strip())
            else _whole(part, word, at, _SIZE, f"the size {_short(part)} of {name}", _meant(word))
            for part, at in (_split(sizes, ",", len(name) + 1) if sizes else ())
        )
    return found


def _meant(word: str) -> str:
    """The next step for `A=3x4`, `A=(3, 4)` and other spellings of a shape."""
    name, _, sizes = word.partition("=")
    if found := re.fullmatch(
        r"[\[(]?\s*([0-9]{1,9}(?:\s*[x*×, ]\s*[0-9]{1,9})*),?\s*[\])]?", sizes
    ):
        numbers = ",".join(re.findall("[0-9]+", found[1]))
        return f"write {name}={numbers}"
    return SHAPE_HELP


def without_sizes(
    given: Mapping[str, tuple[Any, ...]], tensors: Set[str], formula: str
) -> tuple[dict[str, tuple[Any, ...]], dict[str, int]]:
    """The shapes of tensors, and the values of names that belong to no tensor: `n=100`."""
    words = {*re.findall(r"\w+", formula), *(size for shape in given.values() for size in shape)}
    single = {name: shape[0] for name, shape in given.items() if len(shape) == 1}
    others = words - tensors
    sizes = {n: size for n, size in single.items() if n in others and isinstance(size, int)}
    return {name: shape for name, shape in given.items() if name not in sizes}, sizes


def tensors_in(formula: str, given: Iterable[str] = ()) -> frozenset[str]:
    """The names of the formula's tensors, inputs and results; those given where it cannot be read,
    which is said when it is parsed."""
    from einderive.ta.notation.parse import sizes_named, tensors_named

    try:
        return frozenset().union(*tensors_named(formula)) - sizes_named(formula)
    except TextError:
        return frozenset(given)


def ranges(words: Sequence[str]) -> dict[str, tuple[int, int]]:
    """`h=0:56` (several with commas between) -> half-open ranges by name."""
    found: dict[str, tuple[int, int]] = {}
    for word in (part for given in words for part in given.split(",")):
        name, _, bounds = _named(word, found, "the range", RANGE_HELP)
        parts = _split(bounds, ":", len(name) + 1)
        if len(parts) != 2:
            raise UsageError(
                f"the range of {name} needs two ends",
                text=word,
                span=(len(name) + 1, len(word)),
                next_step=RANGE_HELP,
            )
        low, high = (
            _whole(
                part, word, at, _BOUND, f"the end {_short(part)} of the range of {name}", RANGE_HELP
            )
            for part, at in parts
        )
        found[name] = (low, high)
    return found


def dtypes(words: Sequence[str]) -> str | Mapping[str, str]:
    """`float16` for all tensors, or `A=int32` by tensor."""
    found: dict[str, str] = {}
    for word in (part for given in words for part in given.split(",")):
        name, equals, dtype = word.rpartition("=")
        if dtype not in DTYPES:
            raise UsageError(
                f"unknown element type {dtype!r:.60}",
                text=word,
                span=(len(name) + len(equals), len(word)),
                next_step=close_matches(dtype, DTYPES) or f"use one of {', '.join(DTYPES)}",
            )
        if not equals:
            if len(words) > 1 or "," in words[0]:
                raise UsageError(
                    "one element type for all tensors, or one for each by name",
                    text=word,
                    span=(0, len(word)),
                    next_step="for example --dtype A=float16 --dtype B=float32",
                )
            return dtype
        found[name] = dtype
    return found or "float32"


def _named(
    word: str, known: Mapping[str, object], what: str, help_text: str
) -> tuple[str, str, str]:
    """NAME, = and the rest."""
    name, equals, rest = word.partition("=")
    if not equals or not _NAME.fullmatch(name):
        unquoted = "[" in word or word in ("=", "+", "-", "*", "/", "where")
        if unquoted:
            raise UsageError(
                "a part of the formula stands alone",
                text=word,
                span=(0, len(word)),
                next_step='put the formula in quotes: einderive derive "Y[i] = A[i,k]*x[k]" ...',
            )
        message = f"{what} has no name before the =" if equals else f"{what} has no ="
        if equals and name:
            message = f"{name!r} is not the name of a tensor or an iterator"
        at = (0, max(1, len(name))) if equals else (len(word), len(word) + 1)
        raise UsageError(message, text=word, span=at, next_step=help_text)
    if name in known:
        raise UsageError(
            f"{what} of {name} is given twice", text=word, span=(0, len(name)), next_step=help_text
        )
    return name, equals, rest


def _short(part: str) -> str:
    return part if 0 < len(part) <= 40 else f"{part[:37]}..." if part else "(nothing)"


def _split(text: str, separator: str, start: int) -> list[tuple[str, int]]:
    """The parts and where each begins."""
    parts: list[tuple[str, int]] = []
    for part in text.split(separator):
        parts.append((part, start))
        start += len(part) + 1
    return parts


def _whole(
    part: str, word: str, at: int, pattern: re.Pattern[str], what: str, help_text: str
) -> int:
    if pattern.fullmatch(part.strip()):
        return int(part)
    problem = "is not a whole number"
    if re.fullmatch(r"-[0-9]+", part.strip()):
        problem = "is negative"
    if re.fullmatch(r"[0-9]{400,}", part.strip()):
        problem = "has too many digits"
    raise UsageError(
        f"{what} {problem}", text=word, span=(at, at + max(1, len(part))), next_step=help_text
    )


_PYTHON_TO_SHELL = (
    (r"\b(\w+)=\(([\d, ]*?),?\)", lambda m: f"{m[1]}={m[2].replace(' ', '')}"),
    (r"pass ranges=\{'(\w+)': \((-?\d+), (-?\d+)\)\}", r"give --range \1=\2:\3"),
    (r"target='(\w+)'", r"--target \1"),
    (r"derivation\.save\(path\)", "einderive derive ... --save FILE"),
)
"""The wording of next steps in Python, and on the command line."""


def told_for_the_command_line(text: str) -> str:
    """An error's text with the wording of the command line instead of Python's."""
    message, mark, step = text.rpartition("\n  next: ")
    for python, shell in _PYTHON_TO_SHELL:
        step = re.sub(python, shell, step)
    return message + mark + step
