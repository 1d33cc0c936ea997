"""What the page shows, against the derivation itself, the interpreter's values and NumPy."""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.derivations.matching.cost import CPU
from einderive.derivations.matching.profile import from_data, to_data
from einderive.derivations.search.strategy import Budget
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.cli.main import main
from einderive.frontend.explorer.models import HOLDS, CandidateView, View
from einderive.frontend.explorer.page import page
from einderive.frontend.explorer.pieces.lines import changed
from einderive.frontend.explorer.reproduce import reproduction
from einderive.frontend.explorer.steps import graph_of
from einderive.frontend.explorer.view import view_of
from einderive.frontend.machine.stored import keep
from einderive.frontend.report.story import tell
from tests.frontend.explorer.derived import distances, measured, windows


@pytest.fixture(scope="module")
def view() -> View:
    return view_of(distances())


def stepped(view: View) -> CandidateView:
    return next(each for each in view.candidates if len(each.steps) > 2)


def test_steps_are_those_of_the_derivation(view: View) -> None:
    for candidate, plan in zip(view.candidates, distances().candidates, strict=True):
        assert [step.rule for step in candidate.steps] == [step.rule for step in plan.steps]
        told = tell(distances(), plan).steps
        for step, other in zip(candidate.steps, told, strict=True):
            assert tuple(line.text for line in step.before) == other.before
            assert tuple(line.text for line in step.after) == other.after


def test_each_step_begins_where_the_last_one_ended(view: View) -> None:
    for candidate in view.candidates:
        places = [(step.come_from.seconds, step.leads_to.seconds) for step in candidate.steps]
        assert all(a[1] == b[0] for a, b in pairwise(places))
        if places:
            assert places[-1][1] == candidate.seconds


def test_what_is_not_marked_stands_on_both_sides(view: View) -> None:
    for step in stepped(view).steps:
        for old in step.before:
            name = old.text.split("[")[0]
            for new in step.after:
                if new.text.split("[")[0] == name and not old.fresh:
                    kept = [
                        "".join(p.text for p in line.pieces if not p.changed) for line in (old, new)
                    ]
                    assert re.sub(r"\s", "", kept[0]) == re.sub(r"\s", "", kept[1])
                    assert any(p.changed for line in (old, new) for p in line.pieces)
                    assert "changed" in old.math + new.math


def test_changes_of_a_list() -> None:
    assert changed("abc", "abxc") == (frozenset(), frozenset({2}))
    assert changed("abc", "ac") == (frozenset({1}), frozenset())
    assert changed("", "a") == (frozenset(), frozenset({0}))


def test_the_checker_is_asked_about_the_first_candidates(view: View) -> None:
    assert all(step.checked == HOLDS for each in view.candidates[:4] for step in each.steps)


def test_a_step_that_does_not_hold_is_said(tmp_path: Path) -> None:
    data = distances().data()
    candidate = next(each for each in data["candidates"] if each["steps"])
    step = candidate["steps"][0]
    step["after"] = step["after"].replace("A[", "B[", 1)
    data["candidates"] = [{**candidate, "steps": [step]}]
    (tmp_path / "d.json").write_text(json.dumps(data), encoding="utf-8")
    (found,) = view_of(ed.load(tmp_path / "d.json")).candidates
    assert found.steps[0].checked not in ("", HOLDS)


def test_shares_add_up_to_the_predicted_time(view: View) -> None:
    stages = [stage for each in view.candidates for stage in each.stages]
    assert len({stage.operator for stage in stages}) > 2
    for stage in stages:
        if stage.seconds is not None:
            assert sum(s.seconds for s in stage.shares) == pytest.approx(stage.seconds)


def test_drawings_have_a_box_for_each_tensor_and_a_curve_for_each_read(view: View) -> None:
    for candidate, drawing in [(c, d) for c in view.candidates for d in (c.drawing, c.narrow)]:
        drawn = {box.name for box in drawing.boxes}
        assert drawn == {"A", "B", *(stage.name for stage in candidate.stages)}
        assert len(drawing.curves) == sum(len(stage.reads) for stage in candidate.stages)
        places = {(box.x, box.y) for box in drawing.boxes}
        assert all(box.width > 6 * len(box.label) for box in drawing.boxes)
        assert all(0 <= box.x <= drawing.width - box.width + 1 for box in drawing.boxes)
        assert len(places) == len(drawn)
        along = "y" if drawing is candidate.narrow else "x"  # what is read stands before its reader
        place = {box.name: getattr(box, along) for box in drawing.boxes}
        assert all(place[read] < place[s.name] for s in candidate.stages for read in s.reads)


def test_pseudocode_computes_the_formula() -> None:
    """The loops of the candidates, run as Python, against NumPy's sums of windows."""
    image = np.random.default_rng(0).integers(-3, 4, (8, 8))
    expected = np.lib.stride_tricks.sliding_window_view(image, (3, 3)).sum((2, 3))
    for candidate in view_of(windows(), checked=0).candidates[:3]:
        values: dict[str, Any] = {"A": image}
        for stage in candidate.stages:
            values[stage.name] = np.zeros(stage.shape)
            exec(re.sub(r"in (-?\d+):(-?\d+)", r"in range(\1, \2)", stage.pseudocode), values)
        np.testing.assert_array_equal(values["Y"], expected)


def test_python_and_command_repeat_the_derivation(capsys: pytest.CaptureFixture[str]) -> None:
    found = ed.derive("Y[i] = 2*A[i]", A=(3,), dtypes="float64", accuracy="componentwise")
    told = reproduction(found)
    values: dict[str, Any] = {"A": np.ones(3)}
    exec(told.python, values)
    assert values["d"].data()["candidates"] == found.data()["candidates"]
    assert np.asarray(values["result"]).tolist() == [2, 2, 2]
    assert "every step checks" in capsys.readouterr().out
    words = shlex.split(told.command)
    assert words[:2] == ["einderive", "derive"]
    assert main([*words[1:-1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["input"] == found.data()["input"]
    assert json.loads(told.record)["candidates"] == found.data()["candidates"]


def test_times_are_predicted_for_the_profile_that_was_measured_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    other = from_data(to_data(CPU) | {"origin": "measured", "call_seconds": 1.0})
    assert keep(other)
    assert graph_of(distances()).machine == other


def test_stages_stand_beside_the_roofline() -> None:
    """A product of 64 matrices: 2*n^3 operations, three matrices to move."""
    found = ed.derive("Y[i,j] = A[i,k]*B[k,j]", A=(256, 256), B=(256, 256), budget=Budget(states=5))
    (stage,) = view_of(found, checked=0).candidates[0].stages
    assert stage.roof is not None
    peak = CPU.rates["matmul"].most
    assert stage.roof.bound == "arithmetic"
    assert stage.roof.seconds == pytest.approx(2 * 256**3 / peak)
    assert stage.reached is not None
    assert 0 < stage.reached <= 1
    sums = ed.derive("Y[i] = A[i]+B[i]", A=(9999,), B=(9999,), budget=Budget(states=5))
    (stage,) = view_of(sums, checked=0).candidates[0].stages
    assert stage.roof is not None
    assert stage.roof.bound == "memory"
    moved = 3 * 4 * 9999
    assert stage.roof.seconds == pytest.approx(moved / CPU.bytes_a_second(moved))


def test_a_measured_page_has_the_times_of_stages_and_spreads() -> None:
    compiled = measured()
    view = view_of(distances(), compiled, checked=0, kernels=True)
    timed = [stage for each in view.candidates for stage in each.stages if stage.measured]
    assert timed
    assert all(stage.roof is not None for stage in timed)
    assert view.measured is not None
    for trial, shown in zip(compiled.trials, view.measured.trials, strict=True):
        begin, width = shown.whisker
        assert (width > 0) == (trial.spread > 0)
        if begin > 0:  # else it is wider than the bar, and cut at 0
            assert begin + width / 2 == pytest.approx(shown.width, rel=1e-3)
        assert (shown.predicted != "") == (trial.plan is not None)
    whole = page(view)
    assert whole.count('class="roof"') >= len(timed)
    assert "reaches" in whole
