"""The pictures of measurements: every figure of the tables that they name is in its place."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from math import log10

import pytest

from einderive.frontend.bench.kernels.picture import Axis, PictureError, Series, curves, rows
from tests.test_layers import ROOT

BLOCK = re.compile(r"^```\{plot\} (.*)\n((?::.*\n)*)```$", re.MULTILINE)
PAGES = {
    path.relative_to(ROOT / "docs").with_suffix("").as_posix(): path.read_text("utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md"))
}


@pytest.fixture(autouse=True)
def docs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))


def plots(page: str) -> Iterator[tuple[str, dict[str, str], str, int]]:
    """Of each directive of the page: its title and options, the page that it reads, its line."""
    for found in BLOCK.finditer(PAGES[page]):
        pairs = (line[1:].partition(":") for line in found[2].splitlines())
        options = {name: value.strip() for name, _, value in pairs}
        source, line = PAGES[page], PAGES[page].count("\n", 0, found.start()) + 1
        if "page" in options:
            source, line = PAGES[options["page"]], 0
        yield found[1], options, source, line


def drawn(title: str, options: dict[str, str], source: str, line: int) -> list[str]:
    """The marks of the picture with the words over them; words stay inside of the picture."""
    from plot_directive import plot  # type: ignore[import-not-found]

    root = ElementTree.fromstring(plot(title, options, source, line))
    assert root.attrib["role"] == "img"
    assert title in root.attrib["aria-label"]
    wide = float(root.attrib["viewBox"].split()[2])
    for text in root.iter("text"):
        length, x = 5.7 * len(text.text or ""), float(text.attrib["x"])
        before = {"start": 0.0, "middle": length / 2, "end": length}[text.attrib["text-anchor"]]
        assert x - before >= -2, text.text
        assert x - before + length <= wide + 2, text.text
    return [f"{m.attrib['d']} {t}" for m in root.iter("path") for t in (m.findtext("title"),) if t]


def test_the_pages_of_measurements_have_pictures() -> None:
    wanted = ("measurements", *(f"measurements/{n}" for n in ("never-slower", "cpu", "kernels")))
    for page in (*wanted, "measurements/search", "measurements/digits"):
        assert [*plots(page)], page
    assert sum("{plot}" in text for text in PAGES.values()) == sum(
        any(plots(page)) for page in PAGES
    )


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "{plot}" in text])
def test_a_picture_has_every_figure(page: str) -> None:
    from page_tables import figure  # type: ignore[import-not-found]
    from plot_directive import _chosen

    for title, options, source, line in plots(page):
        found = drawn(title, options, source, line)
        if "only" in options:
            assert found
            continue
        columns = [name.split(" / ") for name in options["values"].split(";")]
        expected = sum(
            all(figure(row[name.strip()]) is not None for name in names)
            for table in _chosen(options, source, line)
            for row in table.rows
            for names in columns
        )
        assert len(found) == expected, title


def test_no_row_of_the_printed_tables_is_left_out() -> None:
    from page_tables import tables

    page = PAGES["measurements/never-slower"]
    said = [int(n) for n in re.findall(r"^(\d+) measured", page, re.MULTILINE)]
    assert [len(table.rows) for table in tables(page, "never-slower")] == said


def test_a_figure_that_changes_moves_its_mark() -> None:
    title, options, source, line = next(plots("measurements/digits"))
    name, old, new = "variance                            ", "6.9, 6.9", "6.9, 2.9"
    there = source.index(old, source.index(name))
    changed = source[:there] + new + source[there + len(old) :]
    before = drawn(title, options, source, line)
    after = drawn(title, options, changed, line)
    moved = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(moved) == 1
    assert moved[0][1].endswith("variance, compiled function: 2.9")


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        ("values", "speed", "no column 'speed'"),
        ("of", "9, tensors", "no table '9, tensors'"),
        ("names", "one", "1 names for 2 series"),
        ("only", "formula=none", "no row is left"),
    ],
)
def test_what_is_not_there_ends_the_build(option: str, given: str, message: str) -> None:
    from plot_directive import TableError, plot

    title, options, source, line = next(plots("measurements/digits"))
    with pytest.raises(TableError, match=message):
        plot(title, options | {option: given}, source, line)


def test_a_cell_that_is_no_figure_is_refused() -> None:
    from page_tables import TableError, figure

    assert figure("2.5 us") == pytest.approx(2.5e-6)
    assert [figure(cell) for cell in ("**2,050**", "119.2x", "", "53 %")] == [2050, 119.2, None, 53]
    with pytest.raises(TableError, match="not one figure"):
        figure("1.1-1.2")


def marks(text: str) -> list[tuple[float, float]]:
    root = ElementTree.fromstring(text)
    ways = [m.attrib["d"] for m in root.iter("path") if m.find("title") is not None]
    return [(float(x), float(y)) for x, y in (w[1:].split("m")[0].split() for w in ways)]


def test_marks_are_true_to_scale() -> None:
    values = (1.0, 10.0, 40.0)
    series = Series("a < b", tuple((10.0**i, v, "w") for i, v in enumerate(values)))
    (a, top), (b, _), (c, low) = marks(curves("t", Axis("n", log=True), Axis("y"), [series]))
    assert b - a == pytest.approx(c - b, abs=0.2)
    middle = marks(curves("t", Axis("n", log=True), Axis("y"), [series]))[1][1]
    assert (top - low) / (top - middle) == pytest.approx(39 / 9, abs=0.05)
    one = Series("s", tuple((v, float(i), "w") for i, v in enumerate(values)))
    found = marks(rows("t", Axis("x", log=True), ["p", "q", "r"], [one]))
    assert (found[2][0] - found[0][0]) / (found[1][0] - found[0][0]) == pytest.approx(
        log10(40), abs=0.05
    )
    assert found[1][1] - found[0][1] == found[2][1] - found[1][1] > 10


def test_a_logarithm_needs_positive_figures() -> None:
    with pytest.raises(PictureError, match="logarithmic"):
        rows("t", Axis("x", log=True), ["p"], [Series("s", ((0.0, 0.0, ""),))])
