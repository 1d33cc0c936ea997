"""A search within a record: columns of JSON, compressed, and read with nothing believed.

    {"version": 1, "data": "<base64 of deflated JSON>"}

The JSON holds `states`, `equalities` and `refused` as objects of columns, one a field of `State`,
`Equality` and `Refused`, and beside them the other fields of `Searched`.  Sizes are limited before
anything is unpacked; numbers of states and reasons must be those of the search.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any, TypeVar, get_args, get_type_hints

from einderive.derivations.record import trace
from einderive.derivations.search.searched import (
    MOST_STATES,
    Equality,
    IteratorRow,
    Refused,
    Searched,
    State,
)
from einderive.ta.errors import RecordError

T = TypeVar("T")
VERSION = 1
MOST_BYTES = 2_000_000
"""Of the text in a record."""
MOST_UNPACKED = 1 << 26
MOST_ROWS = 1 << 18
DIGITS = 5
TYPES: Mapping[type, Mapping[str, Any]] = {
    kind: get_type_hints(kind) for kind in (State, IteratorRow, Equality, Refused)
}


def search_data(made: Callable[[int], Searched]) -> dict[str, Any]:
    """The data of the search, with as many states as fit; `made` gives it with at most this
    many."""
    most = MOST_STATES
    while True:
        packed = _packed(made(most))
        if len(packed) <= MOST_BYTES:
            return {"version": VERSION, "data": packed}
        most //= 2


def columns(found: Searched) -> dict[str, Any]:
    """The search as plain data: its tables as objects of columns."""
    parts = {item.name: getattr(found, item.name) for item in fields(found)}
    tables = {"states": State, "equalities": Equality, "refused": Refused}
    for name, kind in tables.items():
        rows = parts[name]
        parts[name] = {f.name: [_plain(getattr(row, f.name)) for row in rows] for f in fields(kind)}
    return parts


def _packed(found: Searched) -> str:
    text = json.dumps(columns(found), ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, IteratorRow):
        return [_plain(getattr(value, item.name)) for item in fields(value)]
    return value


def read_search(data: Any) -> Searched:
    """The search; RecordError where the data are malformed or too large."""
    given = trace.all_fields(data, ("version", "data"), "the search")
    if trace.part_of(given, "version", trace.integer_of) != VERSION:
        raise RecordError(f"the search has another version than {VERSION}, which is read here")
    found = _unpacked(trace.part_of(given, "data", trace.text_of))
    parts = trace.all_fields(found, [item.name for item in fields(Searched)], "the search")
    types = get_type_hints(Searched)
    return _consistent(
        Searched(**{name: trace.part_of(parts, name, _part, kind) for name, kind in types.items()})
    )


def _part(data: Any, kind: Any) -> Any:
    """A field of the search: a table, or what its type says."""
    (row, *_) = get_args(kind) or (None,)
    if row in (State, Equality, Refused):
        return _rows(data, row, 2 * MOST_STATES if row is State else MOST_ROWS)
    return trace.read(data, kind)


def _unpacked(text: str) -> Any:
    if len(text) > MOST_BYTES:
        raise RecordError(f"a search of more than {MOST_BYTES} bytes")
    try:
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(b64decode(text, validate=True), MOST_UNPACKED)
        if unpacker.unconsumed_tail:
            raise RecordError(f"a search that unpacks to more than {MOST_UNPACKED >> 20} MiB")
        return json.loads(raw.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, zlib.error, RecursionError):
        raise RecordError("the search cannot be unpacked") from None


def _no_number(word: str) -> Any:
    raise ValueError(word)


def _rows(data: Any, kind: type[T], most: int) -> tuple[T, ...]:
    """The rows of a table from its columns, which are equally long."""
    types = TYPES[kind]
    given = trace.all_fields(data, list(types), "the table")
    count = len(trace.items_of(given[next(iter(types))]))
    if count > most:
        raise RecordError(f"a table of {count} rows is too large")
    found = [
        [
            trace.read(each, types[name], _READERS)
            for each in trace.part_of(given, name, trace.items_of, count)
        ]
        for name in types
    ]
    return tuple(kind(*row) for row in zip(*found, strict=True))


def _row(value: Any) -> IteratorRow:
    types = TYPES[IteratorRow]
    given = trace.items_of(value, len(types))
    return IteratorRow(*(trace.read(v, t) for v, t in zip(given, types.values(), strict=True)))


def _number(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if not known or not isfinite(value) or not -1 <= value < 1e300:
        raise RecordError(f"{value!r:.80} stands where a number belongs")
    return float(value)


_READERS = {float: _number, IteratorRow: _row}


def _consistent(found: Searched) -> Searched:
    """The search, if every number of a state or a reason in it is one."""
    states, reasons = len(found.states), len(found.reasons)
    read = [*found.given, *(each for way in found.programs for each in way)]
    read += [each for state in found.states for each in state.reads]
    read += [each for step in found.equalities for each in (step.before, step.after)]
    read += [each.state for each in found.refused]
    said = [each for state in found.states for each in state.mismatches]
    said += [each.reason for each in found.refused]
    counts = [found.asked, found.left_out, *(each.count for each in found.refused)]
    counts += [state.expanded for state in found.states]
    sizes = [(state.loops, len(state.iterators)) for state in found.states]
    within_states = all(0 <= each < states for each in read)
    within_reasons = all(0 <= each < reasons for each in said)
    if not (within_states and within_reasons and all(each >= 0 for each in counts)):
        raise RecordError("the search names states or reasons that it does not have")
    if not all(0 <= loops <= count for loops, count in sizes):
        raise RecordError("a state has more loops than iterators")
    return found
