"""The golden texts: malformed inputs, one file a kind, each with the message it gets.

=== a bracket that is never closed        the cause; no two cases have the same
formula: Y[i] = A[i                       the input; a line repeated is a line of the input,
shapes: A=3                               a value in double quotes is JSON, and one in
---                                       backquotes is Python
FormulaSyntaxError                        the error's class, then its message
the text ends where ...
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MESSAGES = Path(__file__).parent / "messages"
KINDS = ("formula", "call", "einsum", "operand", "record", "command")
BEGIN, END = "=== ", "---"


@dataclass(frozen=True, slots=True)
class Case:
    """One malformed input: what is typed, by field, and the message that is expected."""

    kind: str
    cause: str
    written: tuple[str, ...]
    expected: str

    @property
    def fields(self) -> dict[str, str]:
        """The input by field, lines joined."""
        found: dict[str, list[str]] = {}
        for line in self.written:
            name, _, value = line.partition(": ")
            name = name.removesuffix(":")
            found.setdefault(name, []).append(_value(value))
        return {name: "\n".join(lines) for name, lines in found.items()}

    def text(self, message: str) -> str:
        """The case as it stands in its file."""
        return "\n".join([BEGIN + self.cause, *self.written, END, message.rstrip("\n")]) + "\n"


def _value(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return str(json.loads(text))
    if len(text) > 1 and text[0] == text[-1] == "`":
        return str(eval(text[1:-1]))
    return text


def path_of(kind: str) -> Path:
    return MESSAGES / f"{kind}.txt"


def read(kind: str) -> tuple[Case, ...]:
    """The cases of a kind, in the order of its file."""
    cases = []
    _, *parts = ("\n" + path_of(kind).read_text(encoding="utf-8")).split("\n" + BEGIN)
    for part in parts:
        before, _, expected = part.partition(f"\n{END}\n")
        cause, *written = before.split("\n")
        cases.append(Case(kind, cause, tuple(written), expected.rstrip("\n")))
    return tuple(cases)


def written(cases: Sequence[Case], messages: Sequence[str]) -> str:
    """The whole file of a kind."""
    return "\n".join(case.text(text) for case, text in zip(cases, messages, strict=True))
