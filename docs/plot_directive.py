"""The directive `plot`: draws the figures of a page's tables while the documentation is built.

    ```{plot} Time of the call over that of the fastest line
    :kind: sorted
    :printed: never-slower
    :of: 8, tensors; 128, tensors
    :values: ratio
    :axis: the call's time over the line's
    :log:
    :marks: 1
    ```

- `kind`: `rows` has a row for each of `labels` (by default the first column); `curves` has the
  figures over those of the column `along`; `sorted` has each series from its least figure to its
  greatest.
- `of`: the tables, by heading (`heading (2)` is the second under it), or `-1` for the last one
  before the directive, `-2` for the one before that.  By default `-1`.  `page` is another page.
- `printed`: what kind of printed text the tables are (`page_tables.PRINTED`), where they are not
  Markdown's.
- `values`: the columns; `a / b` divides one by another.  Each table and each column is a series;
  with `by`, each value of that column is.  `names` are the series' names.
- `only`: `column=text`, or `value<0.5` for rows in which some figure is below.

Nothing is stated twice: a figure that changes in its table moves in the picture, and a table or a
column that is gone ends the build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from docutils.parsers.rst import directives
from page_tables import Table, TableError, figure, tables
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from einderive.frontend.bench.kernels.picture import Axis, PictureError, Point, Series, curves, rows

OPTIONS: Final = {
    "kind": lambda given: directives.choice(given, ("rows", "curves", "sorted")),
    "printed": directives.unchanged_required,
    "page": directives.unchanged_required,
    "of": directives.unchanged_required,
    "values": directives.unchanged_required,
    "names": directives.unchanged_required,
    "labels": directives.unchanged_required,
    "along": directives.unchanged_required,
    "by": directives.unchanged_required,
    "only": directives.unchanged_required,
    "axis": directives.unchanged_required,
    "upwards": directives.unchanged_required,
    "marks": directives.unchanged_required,
    "log": directives.flag,
    "along-log": directives.flag,
}

NUMBERED: Final = re.compile(r"^(.*?)(?: \((\d+)\))?$")


@dataclass(frozen=True, slots=True)
class _Figures:
    """One series before it is placed: its name, and (label, place along, value) of each row."""

    name: str
    found: tuple[tuple[str, float | None, float], ...]


def plot(title: str, options: Mapping[str, Any], text: str, line: int) -> str:
    """The picture for a directive at this line of a page."""
    series = _series(options, _chosen(options, text, line))
    marks = tuple(float(m) for m in options.get("marks", "").split())
    value = Axis(options["axis"], "log" in options, marks)
    kind = options.get("kind", "rows")
    if kind == "rows":
        names = list(dict.fromkeys(label for one in series for label, _, _ in one.found))
        return rows(title, value, names, [_in_rows(one, names) for one in series])
    if kind == "sorted":
        along = Axis("share of the formulas, least first")
        return curves(title, along, value, [_sorted(one) for one in series])
    axis = Axis(options.get("upwards", options["along"]), "along-log" in options)
    return curves(title, axis, value, [_over(one) for one in series])


def _chosen(options: Mapping[str, Any], text: str, line: int) -> list[Table]:
    known = tables(text, options.get("printed", ""))
    before = [table for table in known if table.line < line]
    found = list[Table]()
    for given in options.get("of", "-1").split(";"):
        name, number = NUMBERED.findall(given.strip())[0]
        if name.lstrip("-").isdigit() and int(name) < 0:
            there = before[int(name) :][:1] if len(before) >= -int(name) else []
        else:
            there = [table for table in known if table.heading == name]
            there = there[int(number or 1) - 1 :][:1]
        if not there:
            raise TableError(f"there is no table {given.strip()!r}")
        found += there
    return found


def _series(options: Mapping[str, Any], chosen: Sequence[Table]) -> list[_Figures]:
    found, columns = list[_Figures](), [v.strip() for v in options["values"].split(";")]
    condition, least = _only(options.get("only", ""))
    for table in chosen:
        label = options.get("labels") or next(iter(table.rows[0]))
        for column in columns:
            parts = [part.strip() for part in column.split(" / ")]
            cells = [[figure(cell) for cell in table.column(part)] for part in parts]
            along = (
                [figure(c) for c in table.column(options["along"])] if "along" in options else []
            )
            groups: dict[str, list[tuple[str, float | None, float]]] = {}
            for place, name in enumerate(table.column(label)):
                row, values = table.rows[place], [part[place] for part in cells]
                if None in values or any(row[key] != wanted for key, wanted in condition.items()):
                    continue
                first, *second = (v for v in values if v is not None)
                value = first / second[0] if second else first
                one = (name, along[place] if along else None, value)
                groups.setdefault(row[options["by"]] if "by" in options else "", []).append(one)
            default = table.heading if len(columns) == 1 else column
            found += [_Figures(group or default, tuple(each)) for group, each in groups.items()]
    if not found:
        raise TableError("no row is left to draw")
    names = [name.strip() for name in options["names"].split(";")] if "names" in options else []
    if names and len(names) != len(found):
        raise TableError(f"{len(names)} names for {len(found)} series")
    if least is not None:
        low = {label for one in found for label, _, value in one.found if value < least}
        found = [_Figures(o.name, tuple(f for f in o.found if f[0] in low)) for o in found]
    return [_Figures(names[i] if names else one.name, one.found) for i, one in enumerate(found)]


def _only(given: str) -> tuple[dict[str, str], float | None]:
    condition, least = dict[str, str](), None
    for part in filter(None, (part.strip() for part in given.split(";"))):
        if part.startswith("value<"):
            least = float(part.removeprefix("value<"))
        else:
            name, _, wanted = part.partition("=")
            condition[name] = wanted
    return condition, least


def _in_rows(one: _Figures, names: Sequence[str]) -> Series:
    points = (
        (value, names.index(label), _words(one, label, value)) for label, _, value in one.found
    )
    return Series(one.name, tuple(points))


def _sorted(one: _Figures) -> Series:
    found = sorted(one.found, key=lambda each: each[2])
    last = max(1, len(found) - 1)
    points: list[Point] = [
        (place / last, value, _words(one, label, value))
        for place, (label, _, value) in enumerate(found)
    ]
    return Series(one.name, tuple(points), joined=False)


def _over(one: _Figures) -> Series:
    points = ((along or 0.0, value, _words(one, label, value)) for label, along, value in one.found)
    return Series(one.name, tuple(points))


def _words(one: _Figures, label: str, value: float) -> str:
    name = label if label == one.name else f"{label}, {one.name}"
    return f"{name}: {value:.3g}"


class Plot(SphinxDirective):
    """One picture."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = OPTIONS  # type: ignore[assignment]

    def run(self) -> list[nodes.Node]:
        line, source = self.lineno, Path(self.env.doc2path(self.env.docname))
        if "page" in self.options:
            source, line = Path(self.env.doc2path(self.options["page"])), 0
            self.env.note_dependency(str(source))
        title = " ".join(self.arguments[0].split())
        try:
            drawn = plot(title, self.options, source.read_text("utf-8"), line)
        except (TableError, PictureError, KeyError) as problem:
            raise self.error(f"plot: {problem}") from None
        caption = nodes.caption(title, title)
        figure_node = nodes.container("", nodes.raw("", drawn, format="html"), caption)
        figure_node["classes"] += ["plot"]
        return [figure_node]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("plot", Plot)
    return {"parallel_read_safe": True, "version": "1"}
