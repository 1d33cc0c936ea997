"""Files of JSON as plain data, read strictly: each field once, no NaN, no endless numbers."""

from __future__ import annotations

import json
import os
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from einderive.derivations.record.trace import within
from einderive.ta.errors import RecordError, shown

MOST_BYTES = 1 << 28
MOST_DIGITS = 1000
MOST_SHOWN = 400
"""A longer path is cut to its beginning in messages."""


def read_json(path: str | os.PathLike[str], what: str, step: str) -> tuple[Any, str]:
    """The data in the file, and its name for messages.  RecordError, which says that it is not
    `what`, and what to do as the next step."""
    try:
        name = os.fsdecode(path)
    except Exception:  # a TypeError, or whatever an object of the caller's raises
        raise RecordError(f"{shown(path)} is not a path", next_step=step) from None
    with within(name[:MOST_SHOWN]):
        return _json(_bytes(Path(name), what, step), what, step), name[:MOST_SHOWN]


def _bytes(path: Path, what: str, step: str) -> bytes:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size  # 0 for what is no file, such as a pipe
            data = file.read(size if 0 < size <= MOST_BYTES else MOST_BYTES + 1)
    except FileNotFoundError:
        raise RecordError("there is no such file", next_step=step) from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise RecordError(f"not a file that can be read: {reason}", next_step=step) from None
    if len(data) > MOST_BYTES:
        raise RecordError(f"not {what}: it has more than {MOST_BYTES >> 20} MiB")
    return data


def _json(data: bytes, what: str, step: str) -> Any:
    try:
        return json.loads(
            data.decode("utf-8"),
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_no_number,
            object_pairs_hook=_distinct,
        )
    except RecursionError:
        raise RecordError(f"not {what}: its lists are nested too deeply") from None
    except UnicodeDecodeError as problem:
        raise RecordError(
            f"not {what}: byte {problem.start} is no UTF-8 text", next_step=step
        ) from None
    except json.JSONDecodeError as problem:
        line = problem.doc.split("\n")[problem.lineno - 1] if problem.doc else ""
        said = f"{problem.msg[:1].lower()}{problem.msg[1:]}"
        if data and problem.pos >= len(problem.doc.rstrip()):
            said = "the file ends too early,"
        raise RecordError(
            f"not JSON: {said} in line {problem.lineno}",
            text=line,
            span=(problem.colno - 1, problem.colno),
        ) from None


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise RecordError(f"an integer of {len(digits)} digits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise RecordError(f"{digits:.40} is too large for a number")
    return value


def _no_number(word: str) -> NoReturn:
    raise RecordError(f"{word} stands where a number belongs")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RecordError(f"the field {twice!r:.80} is given twice")
    return found
