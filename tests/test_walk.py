"""The walk in docs/architecture.md: its lines run and enter its stops in the table's order."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
STOP = re.compile(r"\| \d+ \| `([\w/]+\.py)` \| `(\w+)` \| \S.+ \|")
MOST_STOPS = 20

Place = tuple[str, str]


def section() -> str:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.split(r"^## ", text.split("## A walk: ", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def stops() -> list[Place]:
    return [(file, name) for file, name in STOP.findall(section())]


def entered(run: Callable[[], Any]) -> list[Place]:
    """The project's functions that are called, by file and name, in the order of first calls."""
    entered: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered[frame.f_code] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    own = (code for code in entered if code.co_filename.startswith(str(ROOT)))
    return list(dict.fromkeys((c.co_filename.removeprefix(f"{ROOT}/"), c.co_name) for c in own))


def missed(table: list[Place], found: list[Place]) -> str:
    """The first stop of the table that is not entered after the one before it; empty if none is."""
    passed = -1
    for stop in table:
        if stop not in found:
            return f"{stop} is never entered"
        if found.index(stop) <= passed:
            return f"{stop} is entered before the stop above it"
        passed = found.index(stop)
    return ""


def test_the_walk_is_short() -> None:
    table = stops()
    assert 10 < len(table) <= MOST_STOPS
    assert len(table) == section().count("\n| ") - 1  # without the line of headings
    assert len(set(table)) == len(table)


def test_the_lines_run_and_pass_the_stops() -> None:
    lines = re.search(r"```python\n(.*?)```", section(), re.DOTALL)
    assert lines is not None
    space: dict[str, Any] = {}
    # a name of its own: a formula that was read before is remembered
    own = lines[1].replace("A[", "Walked[").replace("A=", "Walked=")
    found = entered(lambda: exec(compile(own, "the walk", "exec"), space))
    assert missed(stops(), found) == ""
    assert space["report"]
    assert [step.rule for step in space["derivation"].candidates[0].steps]


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ([("a.py", "f"), ("b.py", "g")], ""),
        ([("b.py", "g"), ("a.py", "f")], "before"),
        ([("a.py", "f"), ("c.py", "h")], "never"),
    ],
)
def test_a_wrong_table_is_noticed(table: list[Place], complaint: str) -> None:
    found = [("a.py", "f"), ("b.py", "g")]
    assert complaint in missed(table, found)
    assert bool(missed(table, found)) is bool(complaint)
