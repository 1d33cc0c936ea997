"""A race in a record: what was measured, where and when, survives saving; nothing is believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import einderive as ed
from einderive.frontend.api.record import read_derivation
from einderive.frontend.cli.main import main
from einderive.frontend.explorer.trials import measured_view
from einderive.frontend.report.measured import compiled_text
from einderive.frontend.text import minute
from einderive.ta.errors import RecordError
from tests.amount import sampled
from tests.frontend.explorer.derived import distances, few, measured
from tests.frontend.explorer.test_page import HOSTILE


@cache
def text() -> str:
    """The record of a compiled function."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.json"
        measured().save(path)
        return path.read_text(encoding="utf-8")


def saved() -> Any:
    return json.loads(text())


@cache
def few_measured() -> ed.CompiledFunction:
    return few().compile(seconds=0.02, tried=2)


@cache
def short_text() -> str:
    """The record of a compiled function with few candidates, which is read in little time."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.json"
        few_measured().save(path)
        return path.read_text(encoding="utf-8")


def short() -> Any:
    return json.loads(short_text())


def test_the_race_is_the_same_after_saving() -> None:
    found = read_derivation(saved()).recorded_race
    assert found is not None
    assert [t.label for t in found.trials] == [t.label for t in measured().trials]
    for left, right in zip(found.trials, measured().trials, strict=True):
        assert replace(left, plan=None) == replace(right, plan=None)
        assert (left.plan is None) == (right.plan is None)
        if left.plan is not None and right.plan is not None:
            assert left.plan.roots == right.plan.roots
    assert found.chosen.label == measured().chosen.label
    assert found.ratio == measured().ratio
    assert found.stages


def test_a_record_that_is_read_and_saved_keeps_its_race(tmp_path: Path) -> None:
    read_derivation(saved()).save(tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert again["measured"] == saved()["measured"]


def test_every_reader_is_told_where_and_when(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = short()
    data["measured"]["made"] = 1e9
    data["measured"]["environment"]["processor"] = "A far machine"
    path = tmp_path / "d.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    loaded = ed.load(path)
    assert main(["explain", str(path)]) == 0
    terminal = capsys.readouterr().out
    loaded.to_html(tmp_path / "d.html")
    page = (tmp_path / "d.html").read_text(encoding="utf-8")
    for shown in (terminal, page, loaded._repr_html_()):
        told = " ".join(shown.split())
        assert "A far machine" in told
        assert minute(1e9) in told
        assert "as the record states" in told
        assert few_measured().baseline.label in told
    assert "Nothing was measured for this page" not in page


def test_a_race_of_this_process_says_nothing_of_a_record() -> None:
    assert "as the record states" not in compiled_text(measured())
    assert "as the record states" not in measured_view(measured()).where


def test_the_command_line_keeps_the_race(tmp_path: Path) -> None:
    path = str(tmp_path / "d.json")
    words = ["derive", "Y[i,j] = (A[i,k]-B[j,k])^2", "A=9,8", "B=7,8", "--states", "60"]
    assert main([*words, "--run", "--effort", "0.2", "--save", path]) == 0
    race = ed.load(path).recorded_race
    assert race is not None
    assert len(race.trials) > 1


def test_a_list_of_times_of_earlier_releases_is_readable() -> None:
    data = short()
    data["measured"] = [{"label": "baseline", "seconds": 1.0}]
    assert read_derivation(data).recorded_race is None
    del data["measured"]
    assert read_derivation(data).recorded_race is None
    assert distances().recorded_race is None


def _trial(**given: Any) -> Callable[[Any], None]:
    return lambda race: race["trials"][0].update(given)


@sampled(2)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda race: race.pop("made"),
        lambda race: race.update(made=1e15),
        lambda race: race.update(made=True),
        lambda race: race.update(device=3),
        lambda race: race.update(checks="yes"),
        lambda race: race.update(unknown=1),
        lambda race: race.update(trials=[]),
        lambda race: race.update(trials=race["trials"] * 200),
        lambda race: race.update(environment={"a": ["b"]}),
        lambda race: race.update(environment={str(n): "" for n in range(300)}),
        lambda race: race.update(stages=[[0.0] * 99]),
        lambda race: race.update(stages=[[]] * 99),
        _trial(candidate=99),
        _trial(candidate=True),
        _trial(seconds=-1.0),
        _trial(seconds="fast"),
        _trial(spread=None),
        _trial(lines="x" * (1 << 18) + "x"),
        _trial(label="a\x1b[31m"),
        _trial(hard_inputs=[{"family": "a"}]),
        _trial(digits_by_step=[["1"]]),
        lambda race: [each.update(chosen=True) for each in race["trials"]],
        lambda race: [each.update(chosen=False) for each in race["trials"]],
    ],
)
def test_malformed_races_are_refused(spoil: Callable[[Any], None]) -> None:
    data = short()
    assert read_derivation(short()).recorded_race is not None
    spoil(data["measured"])
    with pytest.raises(RecordError):
        read_derivation(data)


def test_hostile_words_are_text(tmp_path: Path) -> None:
    data = short()
    race = data["measured"]
    race["device"] = HOSTILE
    race["environment"] = {HOSTILE: HOSTILE, "processor": HOSTILE}
    for each in race["trials"]:
        each.update(label=HOSTILE, verdict=HOSTILE, lines=HOSTILE, operators=[HOSTILE])
        each["hard_inputs"] = [
            dict.fromkeys(("error", "written_error", "digits_lost"), 2.0)
            | {"family": HOSTILE, "accepted": True, "standard": True}
        ]
    read_derivation(data).to_html(tmp_path / "d.html")
    assert HOSTILE not in (tmp_path / "d.html").read_text(encoding="utf-8")
