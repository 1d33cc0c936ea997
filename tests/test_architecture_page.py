"""docs/architecture.md describes the tree: each room and each file that it names is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath

from tests.test_rooms import ROOMS, ROOT

LINES = (ROOT / "docs" / "architecture.md").read_text("utf-8").splitlines()
FILE = re.compile(r"`([\w/*.-]+\.(?:py|md|toml|json|lark|js|html))`")
FOLDER = re.compile(r"^\| file of `([\w/]+)` \|")
TOPS = ("ta", "derivations", "eops", "frontend", "einderive", "tests", "tools", "docs")
ENTRIES = [
    *[path.relative_to(ROOT).as_posix() for top in TOPS for path in (ROOT / top).rglob("*.*")],
    *[path.name for path in ROOT.iterdir()],
]


def there(name: str) -> bool:
    """Whether a file has the name, or ends in it; `*` stands for part of a file's name."""
    return any(fnmatch(f"/{entry}", f"*/{name}") for entry in ENTRIES)


def missing() -> Iterator[str]:
    """The files that the page names and the tree lacks.  In a table of the files of a folder, a
    name begins in that folder, or in a folder of the name before it in the row."""
    folder = ""
    for line in LINES:
        if not line.startswith("|"):
            folder = ""
        elif found := FOLDER.match(line):
            folder = found[1]
        before = PurePosixPath(folder)
        for name in FILE.findall(line):
            if not folder or name.split("/")[0] in TOPS:
                if not there(name):
                    yield name
                continue
            places = [PurePosixPath(folder), before.parent, before.parent.parent]
            place = next((each for each in places if there(f"{each}/{name}")), None)
            if place is None:
                yield f"{folder}/{name}"
            else:
                before = place / name


def test_each_file_that_the_page_names_exists() -> None:
    assert sum(len(FILE.findall(line)) for line in LINES) > 150
    assert list(missing()) == []


def test_the_table_of_rooms_has_each_room() -> None:
    cells = [line.split("|")[1] for line in LINES if line.startswith("| `")]
    stated = {name for cell in cells for name in re.findall(r"`([\w/]+)`", cell)}
    rooms = {room.relative_to(ROOT).as_posix() for room in ROOMS if room.parent != ROOT}
    assert len(rooms) > 60
    assert rooms - stated == set()
