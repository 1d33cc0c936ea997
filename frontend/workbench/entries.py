"""A record in a list: what it is about, by its file alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import localtime, strftime
from typing import Any

from einderive.frontend.api.json_file import read_json
from einderive.frontend.api.record import SAVE
from einderive.frontend.text import counted, duration, shape
from einderive.ta.errors import RecordError


@dataclass(frozen=True, slots=True)
class Entry:
    """`sizes` and `dtypes` are the words that state them in the fields of the workbench; `problem`
    is why the file cannot be used, empty where it can; `measured` says that it has a race."""

    name: str
    when: str
    formula: str = ""
    tensors: str = ""
    sizes: str = ""
    dtypes: str = ""
    found: str = ""
    problem: str = ""
    measured: bool = False


def entry(path: Path) -> Entry:
    """The entry of a file, read again where the file has changed."""
    state = path.stat()
    return _entry(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1000)
def _entry(path: Path, changed: int, size: int) -> Entry:
    when = strftime("%Y-%m-%d %H:%M", localtime(changed / 1e9))
    try:
        data, _ = read_json(path, "a saved derivation", SAVE)
        return _of(data, path.stem, when)
    except RecordError as error:
        return Entry(path.stem, when, problem=error.message)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return Entry(path.stem, when, problem="not a saved derivation")


def _of(data: Mapping[str, Any], name: str, when: str) -> Entry:
    """The entry of a record's data; what is no record has another form, and raises KeyError, ..."""
    tensors: Mapping[str, Mapping[str, Any]] = data["input"]["tensors"]
    types = {str(each["dtype"]) for each in tensors.values()}
    candidates = data["candidates"]
    best = float(min(each["predicted_seconds"] for each in candidates))
    said = f"{counted(len(candidates), 'program')}, the best {duration(best)} predicted"
    return Entry(
        name,
        when,
        formula=str(data["input"]["text"]),
        tensors=", ".join(f"{tensor} {shape(each['shape'])}" for tensor, each in tensors.items()),
        sizes=" ".join(
            f"{tensor}={','.join(map(str, each['shape']))}" for tensor, each in tensors.items()
        ),
        dtypes=types.pop()
        if len(types) == 1
        else " ".join(f"{tensor}={each['dtype']}" for tensor, each in tensors.items()),
        measured=isinstance(data.get("measured"), dict),
        found=said if data["target"] == "cpu" else f"{said} for {data['target']}",
    )
