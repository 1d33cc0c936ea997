"""Values are found by the files of a folder, in the order that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from einderive.ta.listing import listed

FILES = {
    "one": "A = Fraction(1)",
    "two": "B = (Fraction(2), 'no fraction', Fraction(3))\nC = Fraction(4)\nAGAIN = C",
    "none": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "listed_here"
    package.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in {**FILES, "__init__": ""}.items():
        (package / f"{name}.py").write_text(f"from fractions import Fraction\n{text}\n")
    yield package
    for name in [name for name in sys.modules if name.startswith("listed_here")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [("", "", (1, 2, 3, 4)), ("two", "", (2, 3, 4, 1)), ("", "one", (2, 3, 4, 1))],
)
def test_files_are_in_order(folder: Path, first: str, last: str, found: tuple[int, ...]) -> None:
    __import__(folder.name)
    assert listed(folder.name, Fraction, first, last) == found


def test_a_file_that_is_named_is_there(folder: Path) -> None:
    __import__(folder.name)
    with pytest.raises(ValueError, match="has no file three"):
        listed(folder.name, Fraction, "one three")


def test_a_value_belongs_to_one_file(folder: Path) -> None:
    (folder / "zero.py").write_text("from listed_here.one import A\n")
    __import__(folder.name)
    with pytest.raises(ValueError, match="zero imports a value of another file"):
        listed(folder.name, Fraction)
