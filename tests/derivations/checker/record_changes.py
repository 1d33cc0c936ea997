"""All single changes of a record: a number by one, a text in one place, a part of a list or of an
object left out, repeated, moved or added."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.steps.kernel import kinds
from einderive.eops.library import OPERATORS
from einderive.frontend.accuracy.levels import ACCURACIES, NANS
from einderive.ta.ir.dtypes import DTYPES

Path = tuple[str | int, ...]
GROUPS: tuple[tuple[str, ...], ...] = (
    tuple(MACHINES),
    ACCURACIES,
    NANS,
    DTYPES,
    tuple(kinds()),
    (*(operator.name for operator in OPERATORS), "folded", "eOperator"),
)
"""Words that stand in the same places."""
OPPOSITE = {"+": "-", "-": "+", "*": "+", "/": "*"}


class Change(NamedTuple):
    """The part at `path` becomes `part`; `kind` says in which way."""

    path: Path
    kind: str
    part: Any

    @property
    def place(self) -> str:
        """The path with `#` for the places in lists."""
        return "/".join("#" if isinstance(key, int) else key for key in self.path)

    def applied(self, data: Any) -> Any:
        """A record with the change; the given one stays as it is."""
        return _put(data, self.path, self.part)


def _put(data: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    key, *rest = path
    new = _put(data[key], tuple(rest), part)
    if isinstance(data, dict):
        return data | {key: new}
    return [new if place == key else each for place, each in enumerate(data)]


def changes(data: Any, path: Path = ()) -> Iterator[Change]:
    """Every change of the data."""
    found: Iterator[tuple[str, Any]] = iter(())
    if data is None or isinstance(data, bool):
        found = iter([("filled", 0), ("filled", {})])
    elif isinstance(data, int | float):
        found = iter([("more", data + 1), ("less", data - 1), ("nothing", None)])
    elif isinstance(data, str):
        found = _texts(data)
    elif isinstance(data, list):
        found = _lists(data)
    elif isinstance(data, dict):
        found = _objects(data)
    for kind, part in found:
        if part != data:
            yield Change(path, kind, part)
    if isinstance(data, list | dict):
        parts = data.items() if isinstance(data, dict) else enumerate(data)
        for key, part in parts:
            yield from changes(part, (*path, key))


def _texts(text: str) -> Iterator[tuple[str, str]]:
    yield "longer", text + "x"
    yield "shorter", text[:-1]
    yield "shorter", text[1:]
    yield "empty", ""
    for group in GROUPS:
        if text in group:
            yield from (("another word", word) for word in group if word != text)
    for number in re.finditer(r"\d+", text):
        for by in (1, -1):
            yield "number", _spliced(text, number, str(int(number[0]) + by))
    for sign in re.finditer(r"[-+*/]", text):
        yield "sign", _spliced(text, sign, OPPOSITE[sign[0]])
    names = sorted(set(re.findall(r"\b[A-Z]\w*\b", text)))
    for word in re.finditer(r"\b[A-Z]\w*\b", text):
        yield from (("name", _spliced(text, word, name)) for name in names if name != word[0])


def _spliced(text: str, at: re.Match[str], new: str) -> str:
    return text[: at.start()] + new + text[at.end() :]


def _lists(data: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    for place in range(len(data)):
        yield "left out", data[:place] + data[place + 1 :]
        yield "repeated", data[: place + 1] + data[place:]
        if data[place : place + 1] != data[place + 1 : place + 2] and place + 1 < len(data):
            yield "exchanged", [*data[:place], data[place + 1], data[place], *data[place + 2 :]]
    yield "emptied", []


def _objects(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in data:
        yield "left out", {key: part for key, part in data.items() if key != name}
    for one, other in combinations(data, 2):
        if type(data[one]) is type(data[other]) and data[one] != data[other]:
            yield "exchanged", data | {one: data[other], other: data[one]}
    yield "added", data | {"more": 1}
