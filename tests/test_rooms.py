"""Rooms: small folders that say what lives in them; no circle of imports, of files or of rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.test_layers import PROJECT, ROOT

MOST_FILES = 15
LISTS = {
    "rules",
    "laws",
    "steps",
    "library",
    "functions",
    "definitions",
    "formulas",
    "identities",
    "recognisers",
}
"""Folders that list one idea, or one source of formulas, a file."""
TOPS = sorted(PROJECT - {"einderive"})
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for top in TOPS
    for path in sorted((ROOT / top).rglob("*.py"))
}
ROOMS = sorted({path.parent for path in FILES.values()})

Graph = Mapping[str, frozenset[str]]


def targets(path: Path) -> Iterator[str]:
    """The project's files that a file imports, also within its functions: of `from a import b` the
    file a.b, and a itself where there is none."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [[alias.name.removeprefix("einderive.")] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            module = str(node.module).removeprefix("einderive.")
            names = [[f"{module}.{alias.name}", module] for alias in node.names]
        else:
            continue
        for ways in names:
            files = [file for way in ways for file in (way, f"{way}.__init__") if file in FILES]
            yield from files[:1]


def files() -> Graph:
    return {name: frozenset(targets(path)) - {name} for name, path in FILES.items()}


def rooms() -> Graph:
    """Folders; the files at the top of a package are rooms of their own."""
    found: dict[str, set[str]] = {}
    for name, read in files().items():
        found.setdefault(room(name), set()).update(map(room, read))
    return {name: frozenset(read - {name}) for name, read in found.items()}


def room(name: str) -> str:
    inside = name.rpartition(".")[0]
    return name if inside in TOPS else inside


def circle(graph: Graph) -> list[str]:
    """Names that import each other in turn; nothing where there is no circle."""
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        path.append(name)
        for other in sorted(graph.get(name, ())):
            if found := visit(other):
                return found
        done.add(path.pop())
        return []

    return next((found for name in sorted(graph) if (found := visit(name))), [])


def test_circles_are_found() -> None:
    a, b, c = (frozenset({name}) for name in "abc")
    assert circle({"a": b, "b": c, "c": frozenset()}) == []
    assert circle({"a": b, "b": c, "c": b}) == ["b", "c"]
    assert circle({"a": a}) == ["a"]


def test_no_circle_of_files() -> None:
    found = files()
    assert len(found) > 250
    assert sum(map(len, found.values())) > 1000
    assert circle(found) == []


def test_no_circle_of_rooms() -> None:
    assert circle(rooms()) == []


@pytest.mark.parametrize("folder", ROOMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_is_small_and_says_what_lives_in_it(folder: Path) -> None:
    if folder.name not in LISTS:
        assert len({path.stem for path in folder.glob("*.py")} - {"__init__"}) <= MOST_FILES
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    said = (ast.get_docstring(ast.parse(text)) or "").lower()
    if len(folder.relative_to(ROOT).parts) > 1:
        assert "not here" in said
        assert "may be imported by" in said or "may import" in said
