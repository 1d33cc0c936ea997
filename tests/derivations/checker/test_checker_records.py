"""Saved derivations that were tampered with: what was changed is found."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import einderive as ed
from einderive.derivations.record.trace import VERSION
from einderive.ta.errors import EinderiveError, RecordError
from tests.amount import first, sampled
from tests.derivations.checker.changes import agree

TEXT = "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:4, w in 0:5"
SHAPES = {"A": (1, 2, 4, 5), "K": (3, 2, 3, 3)}
DEEPER = 3
"""The candidate that is tampered with has at least so many steps."""


@cache
def record() -> str:
    derivation = ed.derive(TEXT, target="cuda:90", budget=ed.Budget(states=300), **SHAPES)
    return json.dumps(derivation.data())


def fresh() -> tuple[Any, Any]:
    """The record, and the candidate in it that has the most steps, moved to the front."""
    data = json.loads(record())
    data["candidates"].sort(key=lambda candidate: -len(candidate["steps"]))
    assert len(data["candidates"][0]["steps"]) >= DEEPER
    return data, data["candidates"][0]


def loaded(data: Any, directory: Path) -> ed.Derivation:
    path = directory / "d.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return ed.load(path)


def test_every_candidate_checks_after_loading(tmp_path: Path) -> None:
    derivation = loaded(fresh()[0], tmp_path)
    assert len(derivation.candidates) >= 5
    for number in range(len(derivation.candidates)):
        report = derivation.check(number)
        assert report, str(report)
        assert "is an instance of" in str(report)


@pytest.mark.parametrize("count", first(1, (12, 60)))
def test_changed_numbers_in_a_right_side_are_found(tmp_path: Path, count: int) -> None:
    """One number in the text of a step's right side, more or less by one: refused on reading, or
    found by the check, unless both sides are equal all the same."""
    random = Random(5)
    found = 0
    for _ in range(count):
        data, candidate = fresh()
        step = random.choice(candidate["steps"])
        numbers = list(re.finditer(r"\d+", step["after"]))
        if not numbers:
            continue
        place = random.choice(numbers)
        number = str(max(0, int(place[0]) + random.choice((-1, 1))))
        step["after"] = step["after"][: place.start()] + number + step["after"][place.end() :]
        try:
            derivation = loaded(data, tmp_path)
        except EinderiveError:
            continue
        report = derivation.check(0)
        found += not report
        if report:
            steps = derivation.candidates[0].steps
            assert all(agree(each.before, each.after) for each in steps)
    assert found >= count / 4


def test_steps_that_are_left_out_exchanged_or_turned_round_are_found(tmp_path: Path) -> None:
    for change in (
        lambda steps: steps.pop(0),
        lambda steps: steps.pop(),
        lambda steps: steps.reverse(),
        lambda steps: steps[0].update(before=steps[0]["after"], after=steps[0]["before"]),
        lambda steps: steps.insert(0, steps[1]),
    ):
        data, candidate = fresh()
        change(candidate["steps"])
        assert not loaded(data, tmp_path).check(0)


def test_a_step_between_different_loops_is_a_record_error(tmp_path: Path) -> None:
    data, candidate = fresh()
    first, second = candidate["steps"][:2]
    first["before"] = second["before"]
    with pytest.raises(RecordError, match="the two sides of a step have different loops"):
        loaded(data, tmp_path)


def test_what_a_rule_is_called_does_not_matter(tmp_path: Path) -> None:
    data, candidate = fresh()
    for step in candidate["steps"]:
        step["rule"] = "conjure"
    assert loaded(data, tmp_path).check(0)


def bound(candidate: Any) -> Any:
    return next(stage for stage in candidate["stages"] if stage["binding"] is not None)


@sampled(4)
@pytest.mark.parametrize(
    "change",
    [
        {"coefficient": [2, 1]},
        {"coefficient": "inf"},
        {"roles": {}},
        {"operands": []},
        {"windows": [[0, 0, 0, 0, 1, 1, 1]]},
        {"windows": [[9, 9, 9, 9, 1, 1, 1]]},
    ],
    ids=str,
)
def test_false_bindings_are_found(change: Any, tmp_path: Path) -> None:
    data, candidate = fresh()
    bound(candidate)["binding"].update(change)
    report = loaded(data, tmp_path).check(0)
    assert not report
    assert "FAIL  stage" in str(report)


def test_an_operator_of_another_stage_is_found(tmp_path: Path) -> None:
    data, candidate = fresh()
    bound(candidate)["operator"] = "attention"
    assert not loaded(data, tmp_path).check(0)


def test_a_stage_that_is_not_there_is_found(tmp_path: Path) -> None:
    data, candidate = fresh()
    bound(candidate)["scope"] = 77
    report = loaded(data, tmp_path).check(0)
    assert "77 is no stage of the program" in str(report)
    data, candidate = fresh()
    bound(candidate)["binding"]["operands"][0]["rows"].append([0, [], []])
    assert "rows for a source of" in str(loaded(data, tmp_path).check(0))


BAD_STAGES: dict[str, Any] = {
    "nothing": None,
    "no binding": {"scope": 0, "operator": "matmul"},
    "a text for a place": {"scope": "0", "operator": "matmul", "binding": None},
    "an unknown operator": {"scope": 0, "operator": "conjure", "binding": {}},
    "an empty binding": {"scope": 0, "operator": "matmul", "binding": {}},
}


@pytest.mark.parametrize("stage", BAD_STAGES.values(), ids=BAD_STAGES)
def test_what_is_no_stage_is_a_record_error(stage: Any, tmp_path: Path) -> None:
    data, candidate = fresh()
    candidate["stages"][0] = stage
    with pytest.raises(RecordError):
        loaded(data, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("operands", [{"source": "Q", "rows": [], "fill": [0, 1]}]),
        ("operands", [{"source": "A"}]),
        ("coefficient", [1, 0]),
        ("coefficient", "nan"),
        ("windows", [[0, 1]]),
        ("roles", [1]),
    ],
)
def test_what_is_no_binding_is_a_record_error(name: str, value: Any, tmp_path: Path) -> None:
    data, candidate = fresh()
    bound(candidate)["binding"][name] = value
    with pytest.raises(RecordError):
        loaded(data, tmp_path)


def test_a_record_of_another_version_is_refused(tmp_path: Path) -> None:
    for version in (1, VERSION + 1, str(VERSION), float(VERSION), True, None):
        data = copy.deepcopy(fresh()[0]) | {"version": version}
        with pytest.raises(RecordError, match="version"):
            loaded(data, tmp_path)
