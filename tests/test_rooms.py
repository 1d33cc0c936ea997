"""Rooms: small folders that say what lives in them and who may import them; no circle of imports,
of files or of rooms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
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

STATED = re.compile(r"may be imported by (.*?)(?:;|\.(?:\s|$))", re.IGNORECASE | re.DOTALL)

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


@cache
def files() -> Graph:
    return {name: frozenset(targets(path)) - {name} for name, path in FILES.items()}


@cache
def rooms() -> Graph:
    """Folders; the files at the top of a package are rooms of their own."""
    found: dict[str, set[str]] = {}
    for name, read in files().items():
        found.setdefault(room(name), set()).update(map(room, read))
    return {name: frozenset(read - {name}) for name, read in found.items()}


def room(name: str) -> str:
    inside = name.rpartition(".")[0]
    return name if inside in TOPS else inside


def docstring(folder: Path) -> str:
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    return " ".join((ast.get_docstring(ast.parse(text)) or "").split())


def may_import(importer: str, name: str, stated: str) -> bool:
    """Whether the room's own words, after `may be imported by`, let a room import it:

    every room; every other package; `frontend` and every room of `derivations` except `checker`
    """
    top = name.split(".")[0]

    def named(words: str) -> bool:
        found = re.findall(r"`([\w.]+)`", words)
        whole = (each if each.split(".")[0] in TOPS else f"{top}.{each}" for each in found)
        return any(f"{importer}.".startswith(f"{each}.") for each in whole)

    given, _, excepted = stated.partition(" except ")
    every = re.search(r"every (?:room(?! of)|package)", given) is not None
    others = "every other package" in given and importer.split(".")[0] != top
    return (every or others or named(given)) and not named(excepted)


def test_the_words_of_a_room_are_understood() -> None:
    stated = "`frontend` and every room of `derivations` except `checker`"
    for importer, allowed in {
        "frontend.api": True,
        "derivations.search": True,
        "derivations.checker": False,
        "eops.library": False,
    }.items():
        assert may_import(importer, "derivations.steps", stated) is allowed
    assert may_import("eops.library", "ta.ir", "every room")
    assert not may_import("ta.ir", "ta.facts", "every room except `ta.ir`")
    assert may_import("eops.library", "ta.identities", "every other package")
    assert not may_import("ta.ir", "ta.identities", "every other package")


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
    said = docstring(folder).lower()
    if len(folder.relative_to(ROOT).parts) > 1:
        assert "not here" in said
        assert STATED.search(said)


@pytest.mark.parametrize("folder", ROOMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_is_imported_by_those_that_it_names(folder: Path) -> None:
    name = ".".join(folder.relative_to(ROOT).parts)
    if (found := STATED.search(docstring(folder))) is not None:
        importers = {room for room, read in rooms().items() if name in read}
        own = {room for room in importers if room.startswith(f"{name}.")}
        assert {room for room in importers - own if not may_import(room, name, found[1])} == set()
