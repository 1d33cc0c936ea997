"""What a record says as a whole: its stages are a program, and its options allow its steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from einderive.derivations.effects.forms import regroups_many
from einderive.derivations.rules import JOINT_RULES, RULES
from einderive.frontend.accuracy.levels import can_cancel, exactness
from einderive.ta.errors import EinderiveError, RecordError
from tests.derivations.seeds import seeded

BUDGET = ed.Budget(states=120)
CHAIN = {"A": (5, 6), "W": (6, 4), "V": (4, 3)}
Change = Callable[[Any], object]


@cache
def chain() -> str:
    """Two candidates: one with two stages, the first of weights; the program as given."""
    text = "Y[i,l] = A[i,k]*W[k,j]*V[j,l]"
    data = ed.derive(text, weights=["V", "W"], target="cpu", budget=BUDGET, **CHAIN).data()  # type: ignore[arg-type]
    of_two = next(c for c in data["candidates"] if c["stages"][0]["operator"] == "folded")
    given = next(c for c in data["candidates"] if not c["steps"])
    assert len(of_two["stages"]) == 2
    return json.dumps(data | {"candidates": [of_two, given]})


@cache
def distances() -> str:
    """A candidate that centres a difference and multiplies its square out."""
    derivation = ed.derive(
        "Y[i,j] = (A[i,k]-B[j,k])^2", A=(512, 64), B=(384, 64), target="cpu", budget=BUDGET
    )
    data = derivation.data()
    data["candidates"] = [
        next(c for c in data["candidates"] if any(s["rule"] == "expand" for s in c["steps"]))
    ]
    return json.dumps(data)


def loaded(data: Any, folder: Path) -> ed.Derivation:
    path = folder / "d.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return ed.load(path)


def failed(data: Any, folder: Path, candidate: int = 0) -> str:
    """What of the check fails."""
    report = loaded(data, folder).check(candidate)
    return "; ".join(f"{f.what}: {f.detail}" for f in report.findings if not f.ok)


def test_the_records_check_as_they_are(tmp_path: Path) -> None:
    for text in (chain(), distances()):
        derivation = loaded(json.loads(text), tmp_path)
        for number in range(len(derivation.candidates)):
            report = derivation.check(number)
            assert report, str(report)
            assert "each stage is stated once, after what it reads" in str(report)


def test_a_record_without_candidates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        RecordError, match="holds no candidate: there is nothing to check"
    ) as caught:
        loaded(json.loads(chain()) | {"candidates": []}, tmp_path)
    assert "next: " in str(caught.value)


STAGES: dict[str, tuple[Change, str]] = {
    "none": (lambda stages: stages.clear(), "a stage that is read is not stated"),
    "the last left out": (lambda stages: stages.pop(), "a stage that is read is not stated"),
    "the first left out": (lambda stages: stages.pop(0), "a stage that is read is not stated"),
    "one twice": (lambda stages: stages.append(stages[-1]), "each stage is stated once"),
    "turned round": (lambda stages: stages.reverse(), "each stage is stated once, after what it"),
    "one that nothing reads": (
        lambda stages: stages[1].update(operator="folded", binding=None),
        "a stage is stated that nothing reads",
    ),
    "folded, but not of weights": (
        lambda stages: stages[1].update(operator="folded", binding=None),
        "stage 2 reads weights only: A may change from call to call",
    ),
    "a view that computes": (
        lambda stages: stages[0].update(operator="view"),
        "what is no single read is called a view",
    ),
}


@pytest.mark.parametrize(("change", "words"), STAGES.values(), ids=STAGES)
def test_stages_are_a_program(change: Change, words: str, tmp_path: Path) -> None:
    data = json.loads(chain())
    change(data["candidates"][0]["stages"])
    assert words in failed(data, tmp_path)


def test_what_is_no_longer_a_weight_is_not_folded(tmp_path: Path) -> None:
    data = json.loads(chain()) | {"weights": ["V"]}
    assert "stage 1 reads weights only: W may change" in failed(data, tmp_path)


@pytest.mark.parametrize("weights", [["V", "W"], ["W", "W"], ["W", "X"], ["W", 1], "W", None])
def test_weights_are_names_of_tensors_in_order(weights: Any, tmp_path: Path) -> None:
    with pytest.raises(RecordError):
        loaded(json.loads(chain()) | {"weights": weights}, tmp_path)


def test_a_program_of_another_candidate_is_found(tmp_path: Path) -> None:
    data = json.loads(chain())
    data["candidates"][0]["program"] = data["candidates"][1]["program"]
    assert "the steps lead to the program that the record states" in failed(data, tmp_path)


OPTIONS: dict[str, tuple[dict[str, str], Change, str]] = {
    "componentwise": ({"accuracy": "componentwise"}, lambda step: None, "can cancel"),
    "under another name": (
        {"accuracy": "componentwise"},
        lambda step: step.update(rule="split-sum"),
        "can cancel",
    ),
    "with another witness": (
        {"accuracy": "componentwise"},
        lambda step: step.update(rule="merge-stage", witness={"kind": "Merge", "stage": 0}),
        "is not made by its witness",
    ),
    "strict": ({"nan": "strict"}, lambda step: None, "is not shown to keep NaN and infinity"),
}


@pytest.mark.parametrize(("options", "change", "words"), OPTIONS.values(), ids=OPTIONS)
def test_steps_that_the_options_leave_out_are_found(
    options: dict[str, str], change: Change, words: str, tmp_path: Path
) -> None:
    data = json.loads(distances()) | options
    (candidate,) = data["candidates"]
    change(next(step for step in candidate["steps"] if step["rule"] in ("centre", "expand")))
    found = failed(data, tmp_path)
    assert "every step may take part under" in found
    assert words in found


def test_no_step_loses_more_than_its_rule_states_and_each_rule_that_cancels_has_one() -> None:
    order = ("exact", "reassociates", "cancels")
    cancelled = set()
    for rule in RULES:
        for seed in range(12):
            for step in rule.steps(seeded(rule, seed)):
                found = exactness(step)
                moved = found == "reassociates" and regroups_many(step.before, step.after)
                assert moved or order.index(found) <= order.index(rule.exactness), rule.name
                cancelled |= {rule.name} if found == "cancels" else set()
                assert can_cancel(step) == (found == "cancels")
                assert can_cancel(replace(step, rule="another"))
    assert {"expand", "distribute", "exponential"} <= cancelled
    assert all(rule.exactness != "cancels" for rule in JOINT_RULES)


UNKNOWN: dict[str, Change] = {
    "the record": lambda data: data.update(waights=[]),
    "the input": lambda data: data["input"].update(order=[]),
    "a tensor": lambda data: data["input"]["tensors"]["A"].update(device="cpu"),
    "a candidate": lambda data: data["candidates"][0].update(checked=True),
    "a step": lambda data: data["candidates"][0]["steps"][0].update(proof="by inspection"),
    "a witness": lambda data: data["candidates"][0]["steps"][0]["witness"].update(law="exp-sum"),
    "a stage": lambda data: data["candidates"][0]["stages"][0].update(device="cpu"),
    "a binding": lambda data: data["candidates"][0]["stages"][1]["binding"].update(stride=2),
    "the statistics": lambda data: data["statistics"].update(proved=9),
}


@pytest.mark.parametrize("change", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_read_is_refused(change: Change, tmp_path: Path) -> None:
    data = json.loads(chain())
    change(data)
    with pytest.raises(RecordError, match=r"a field '[a-z]+' is not known here") as caught:
        loaded(data, tmp_path)
    assert "next: leave it out; the fields are " in str(caught.value)


@pytest.mark.parametrize("name", ["weights", "accuracy", "nan", "rule_set", "statistics"])
def test_nothing_is_assumed_where_a_record_says_nothing(name: str, tmp_path: Path) -> None:
    data = json.loads(chain())
    del data[name]
    with pytest.raises(RecordError, match=f"the field '{name}' is missing"):
        loaded(data, tmp_path)


@pytest.mark.parametrize("number", [2, -1, 10**30, None, "0", 0.0, float("nan")])
def test_a_candidate_that_is_not_there_is_refused(number: Any, tmp_path: Path) -> None:
    derivation = loaded(json.loads(chain()), tmp_path)
    with pytest.raises(EinderiveError, match="there is no candidate") as caught:
        derivation.check(number)
    assert "next: candidates are counted from 0; there are 2" in str(caught.value)
