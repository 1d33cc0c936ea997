"""A table in a file, one line of JSON a row: it grows as rows are measured, and a second run goes
on where the first one ended.

    Kept(file, row_of, key_of)    row_of(data of a line) = row,  key_of(row) = what names it

Without a file, nothing is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from einderive.frontend.files import write_whole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    RowT = TypeVar("RowT", bound=DataclassInstance)
else:
    RowT = TypeVar("RowT")
KeyT = TypeVar("KeyT")


class Kept(Generic[KeyT, RowT]):
    """`rows` by their keys: those of the file, then those added."""

    def __init__(
        self,
        file: str,
        row_of: Callable[[Mapping[str, Any]], RowT],
        key_of: Callable[[RowT], KeyT],
    ) -> None:
        self.file, self._key_of = file, key_of
        self.rows = read(file, row_of, key_of)
        if file:  # a last line that was cut off goes
            write_whole(file, "".join(map(line_of, self.rows.values())))

    def add(self, row: RowT) -> None:
        self.rows[self._key_of(row)] = row
        if self.file:
            with Path(self.file).open("a", encoding="utf-8") as table:
                table.write(line_of(row))


def read(
    file: str, row_of: Callable[[Mapping[str, Any]], RowT], key_of: Callable[[RowT], KeyT]
) -> dict[KeyT, RowT]:
    """The rows of a table by their keys.  A last line that was cut off does not count."""
    found: dict[KeyT, RowT] = {}
    if file and Path(file).exists():
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            try:
                row = row_of(json.loads(line))
            except ValueError:
                continue
            found[key_of(row)] = row
    return found


def line_of(row: RowT) -> str:
    return json.dumps(asdict(row)) + "\n"
