"""Two derivations side by side: steps aligned, figures, data, hostile names, the command."""

import json
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest

from einderive.frontend.cli.main import main
from einderive.frontend.derived import Derived
from einderive.frontend.explorer.comparison import compared as compared_file
from einderive.frontend.explorer.comparison import page as page_file
from einderive.frontend.explorer.comparison.compared import aligned, compared
from einderive.frontend.explorer.comparison.models import Comparison, StepRow
from einderive.frontend.explorer.comparison.page import rendered
from einderive.frontend.explorer.models import StepView, View
from einderive.frontend.explorer.view import view_of
from einderive.frontend.text import duration
from einderive.ta.errors import TextError
from tests.frontend.explorer.derived import distances, windows
from tests.frontend.explorer.test_page import HOSTILE, Balance


@cache
def both() -> Comparison:
    return compared(windows(), distances(), ("windows", "distances"))


def steps_of(number: int) -> tuple[StepView, ...]:
    view = windows_view()
    return view.candidates[number].steps


@cache
def windows_view() -> View:
    return view_of(windows(), checked=0)


def test_steps_beside_themselves_are_the_same() -> None:
    for number, plan in enumerate(windows().candidates):
        found = list(aligned(steps_of(number), steps_of(number)))
        assert [row.left for row in found] == [row.right for row in found]
        assert len(found) == len(plan.steps)
        assert all(row.same for row in found)


def test_steps_are_aligned_by_their_rules() -> None:
    plans = windows().candidates
    rules = [[step.rule for step in plan.steps] for plan in plans]
    paired = 0
    for one, other in permutations(range(len(plans)), 2):
        found = list(aligned(steps_of(one), steps_of(other)))
        for side, wanted in ("left", rules[one]), ("right", rules[other]):
            steps = [getattr(row, side) for row in found]
            assert [step.rule for step in steps if step is not None] == wanted
        for row in found:
            assert row.left is not None or row.right is not None
            if row.left is not None and row.right is not None:
                texts = [[each.text for each in step.after] for step in (row.left, row.right)]
                assert not row.same or texts[0] == texts[1]
                paired += row.left.rule == row.right.rule
    assert paired


def test_figures_are_those_of_the_candidates() -> None:
    found = both()
    assert found.words.startswith("The formulas or their sizes differ")
    rows = {row.name: row for row in found.figures}
    one, other = (
        next(plan for plan in each.candidates if plan.steps) for each in (windows(), distances())
    )
    assert rows["predicted time"].left == duration(one.seconds)
    assert rows["predicted time"].right == duration(other.seconds)
    assert float(rows["predicted time"].ratio) == pytest.approx(
        other.seconds / one.seconds, rel=0.01
    )
    assert rows["steps"].left == str(len(one.steps))
    assert found.data is not None
    assert [program.title for program in found.data.programs] == ["windows", "distances"]


def test_a_candidate_that_is_not_there() -> None:
    with pytest.raises(TextError, match="left has no candidate 99"):
        compared(windows(), windows(), candidates=(99, None))


def test_the_page_is_whole_and_loads_nothing() -> None:
    text = rendered(both())
    parsed = Balance(text)
    assert parsed.open == []
    ids = [given["id"] for _, given in parsed.seen if "id" in given]
    assert len(ids) == len(set(ids))
    links = [given["href"] or "" for tag, given in parsed.seen if tag == "a"]
    assert {link[1:] for link in links} <= set(ids)
    assert not {tag for tag, _ in parsed.seen} & {"link", "img", "iframe", "object", "base", "form"}
    assert all("src" not in given for _, given in parsed.seen)
    labels = [given["aria-label"] for _, given in parsed.seen if given.get("role") == "region"]
    assert len(labels) == len(set(labels))
    for derivation in (windows(), distances()):
        plan = next(plan for plan in derivation.candidates if plan.steps)
        assert all(step.rule in parsed.text for step in plan.steps)


def test_what_a_record_may_hold_is_text() -> None:
    found = replace(both(), left=replace(both().left, name=HOSTILE))
    step = found.left.candidate.steps[0]
    evil = replace(found, steps=(StepRow(replace(step, rule=HOSTILE), None, False),))
    text = rendered(evil)
    assert text.count("<script") == 1  # its own
    assert Balance(text).text.count(HOSTILE) >= 4


def test_the_command_takes_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
    windows().save(paths[0])
    distances().save(paths[1])
    out = tmp_path / "both.html"
    assert main(["explore", *paths, "--html", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    assert "<h1>a and b</h1>" in out.read_text("utf-8")
    assert main(["explore", *paths, "--run"]) == 2


def test_the_command_prints_both_as_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, str]] = []

    def known(left: Derived, right: Derived, names: tuple[str, str]) -> Comparison:
        asked.append(names)
        return both()

    monkeypatch.setattr(compared_file, "compared", known)
    path = str(tmp_path / "w.json")
    windows().save(path)
    assert main(["explore", path, path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left"]["name"] == "windows"
    assert asked == [(path, path)]  # two files of one name


def test_the_method_writes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "both.html"
    monkeypatch.setattr(page_file, "comparison_page", lambda *sides: repr(sides))
    windows().to_html(path, beside=distances())
    assert path.read_text("utf-8") == repr((windows(), distances()))
