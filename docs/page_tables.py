"""The tables of a page as figures: Markdown's tables, and texts that a command printed.

tables(text)[-1].column("ratio")  ->  [1.49, 1.14, ...], seconds where times have units
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

UNITS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "x": 1.0, "%": 1.0, "": 1.0}
FIGURE: Final = re.compile(r"([-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?),? ?([a-z%]*)")
NUMBER = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
KINDS: Final = {
    "words": r"\S.*?",
    "number": NUMBER,
    "number,": f"{NUMBER},",
    "numberx": f"{NUMBER}[x%]",
    "time": rf"{NUMBER} (?:ns|us|ms|s)",
}
PRINTED: Final[Mapping[str, str]] = {
    "never-slower": "formula:words n:number plain:time :number call:time ratio:number noise:time "
    "compile:time verdict:words",
    "search": "way:words limit:number effort:number seconds:number states:number expanded:number "
    "best:number reference:number found:words",
    "digits": "formula:words plain:number, digits:number lost:number :time :time ratio:numberx "
    ":number, clusters_digits:number clusters_lost:number :time :time clusters_ratio:numberx "
    "program:words",
    "calls": "call:words :number :number :number torch:number numpy:number compute:number "
    "overhead:number allowed:number",
    "einsum": "equation:words size:number torch:number their_torch:number numpy:number "
    "their_numpy:number",
    "bandwidth": "kernel:words elements:number einderive:number torch:number copy:number "
    "program:words",
    "demo": "formula:words steps:number states:number seconds:number program:words plain:number "
    "derived:number ratio:number :number :number",
    "backward": "formula:words n:number torch:time :number own:time faster:number noise:time "
    ":number :number forward:number verdict:words",
    "memory-kernels": "formula:words :number own:number :number share:numberx torch:number "
    "ratio:number :number",
}
"""The columns of a row of a printed table with their kinds; one without a name is not read."""
SECTION: Final = re.compile(r"(case \d+: [^ ].*?)  .*")
"""A line of a printed table that names what the rows after it belong to: the column `section`."""


class TableError(ValueError):
    """A table, or a figure in it, that is not there."""


@dataclass(frozen=True, slots=True)
class Table:
    """`heading` is the one under which it stands, `line` its last line."""

    heading: str
    line: int
    rows: tuple[Mapping[str, str], ...]

    def column(self, name: str) -> list[str]:
        missing = [row for row in self.rows if name not in row]
        if missing or not self.rows:
            there = ", ".join(self.rows[0]) if self.rows else "no rows"
            raise TableError(f"under {self.heading!r} is no column {name!r}; there are {there}")
        return [row[name] for row in self.rows]


def tables(text: str, printed: str = "") -> list[Table]:
    """All tables of a page: those of Markdown, or the printed ones whose rows are of this kind."""
    found, heading, lines = list[Table](), "", text.splitlines()
    inside, start = "", 0
    for place, line in enumerate([*lines, ""]):
        if line.startswith(("```", ":::")):
            if inside == "text" and printed:
                rows = tuple(_printed(lines[start:place], PRINTED[printed]))
                if rows:
                    found.append(Table(heading, place, rows))
            inside = "" if inside else line.strip("`:{}").split(" ")[0] or "block"
            start = place + 1
        elif not inside and line.startswith("#"):
            heading = line.lstrip("# ")
        elif not inside and not printed:
            if line.startswith("|") and not lines[place - 1].startswith("|"):
                start = place
            if not line.startswith("|") and place and lines[place - 1].startswith("|"):
                found.append(Table(heading, place, tuple(_cells(lines[start:place]))))
    return found


def _cells(lines: Sequence[str]) -> list[dict[str, str]]:
    head, _, *body = ([cell.strip(" *`") for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(head, cells, strict=True)) for cells in body]


def _printed(lines: Sequence[str], row: str) -> list[dict[str, str]]:
    pairs = [column.split(":") for column in row.split()]
    each = (f"(?P<{name}>{KINDS[kind]})" if name else f"(?:{KINDS[kind]})" for name, kind in pairs)
    pattern, section, found = re.compile(" +".join(each)), "", list[dict[str, str]]()
    for line in lines:
        if named := SECTION.fullmatch(line):
            section = named[1]
        elif one := pattern.fullmatch(line.rstrip()):
            found.append({**one.groupdict(), "section": section})
    return found


def figure(text: str) -> float | None:
    """A figure with its unit, times in seconds; None where the cell is empty."""
    words = text.strip(" *`")
    if not words:
        return None
    one = FIGURE.fullmatch(words)
    if one is None or one[2] not in UNITS:
        raise TableError(f"{text!r} is not one figure")
    return float(one[1].replace(",", "")) * UNITS[one[2]]
