"""Two derivations side by side: steps aligned, figures, data, hostile names, the command."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import einderive as ed
from einderive.frontend.cli.main import main
from einderive.frontend.explorer.comparison.compared import compared
from einderive.frontend.explorer.comparison.models import StepRow
from einderive.frontend.explorer.comparison.page import comparison_page, rendered
from einderive.frontend.text import duration
from einderive.ta.errors import TextError
from tests.frontend.explorer.derived import distances, windows
from tests.frontend.explorer.test_page import HOSTILE, Balance


def test_a_derivation_beside_itself_is_the_same() -> None:
    found = compared(windows(), windows())
    assert found.steps
    assert all(row.same for row in found.steps)
    assert found.words.startswith("Both derive the same formula")
    assert {row.ratio for row in found.figures} <= {"1.00", ""}
    assert found.left.candidate == found.right.candidate


def test_steps_are_aligned_by_their_rules() -> None:
    counts = {}
    for number, plan in enumerate(windows().candidates, 1):
        rules = [step.rule for step in plan.steps]
        if rules and rules not in counts.values():
            counts[number] = rules
    assert len(counts) > 1
    (one, first), (other, second) = list(counts.items())[:2]
    found = compared(windows(), windows(), candidates=(one, other))
    sides = [[row.left for row in found.steps], [row.right for row in found.steps]]
    for rules, steps in zip((first, second), sides, strict=True):
        assert [step.rule for step in steps if step is not None] == rules
    for row in found.steps:
        assert row.left is not None or row.right is not None
        if row.same:
            assert row.left is not None
            assert row.right is not None
            assert [each.text for each in row.left.after] == [each.text for each in row.right.after]


def test_figures_are_those_of_the_candidates() -> None:
    found = compared(windows(), distances(), ("windows", "distances"))
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
    text = comparison_page(windows(), distances(), ("windows", "distances"))
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
    found = compared(windows(), distances(), (HOSTILE, "b"))
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
    assert main(["explore", *paths, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left"]["name"] == "a"
    assert main(["explore", *paths, "--run"]) == 2


def test_the_method_writes_both(tmp_path: Path) -> None:
    path = tmp_path / "both.html"
    ed.load(saved(tmp_path)).to_html(path, beside=distances())
    assert "<h1>left and right</h1>" in path.read_text("utf-8")


def saved(folder: Path) -> Path:
    windows().save(folder / "w.json")
    return folder / "w.json"
