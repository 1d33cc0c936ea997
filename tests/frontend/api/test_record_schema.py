"""The schema of records: written by its tool, met by every record, and as strict as the reader."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import einderive as ed
from einderive.derivations.record.earlier import completed
from einderive.derivations.record.trace import step_data
from einderive.derivations.rules import JOINT_RULES, RULES
from einderive.derivations.steps.kernel import Step, kinds
from einderive.frontend.api.record import read_derivation
from einderive.ta.errors import RecordError
from einderive.ta.notation.parse import parse
from tests.amount import one_in, sampled
from tests.derivations.seeds import seeded
from tests.frontend.explorer.derived import few
from tools import record_schema

SCHEMA = json.loads(record_schema.PLACE.read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
FORMULAS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Y[i,j] = A[i,k]*B[k,j]", {"A": (4, 3), "B": (3, 5), "dtypes": "float16"}),
    (
        "Y[i,l] = A[i,k]*B[k,j]*C[j,l]",
        {"A": (4, 3), "B": (3, 5), "C": (5, 4), "weights": ["B", "C"]},
    ),
    ("E[i,k] = exp(A[i,k]); Y[i,k] = E[i,k]/sum[j](E[i,j])", {"A": (4, 3)}),
    ("M[i] = max[j](A[i,j]); Y[i,j] = exp(A[i,j]-M[i]) + 0*z[i]", {"A": (4, 3), "z": (4,)}),
    (
        "Y[i] = a[2*i+r-1]*K[r]*K[s] where i in 0:5; Z[i] = a[i//2] where i in 0:9",
        {"a": (9,), "K": (3,)},
    ),
    ("Y = w[i]*w[i]*w[j]", {"w": (4,), "accuracy": "componentwise", "nan": "strict"}),
)


def saved(found: ed.Derivation | ed.CompiledFunction, **options: bool) -> Any:
    """What is saved, as plain data."""
    with TemporaryDirectory() as folder:
        found.save(path := Path(folder) / "d.json", **options)
        return json.loads(path.read_text(encoding="utf-8"))


@cache
def whole() -> Any:
    """A record with all of its fields."""
    return saved(few().compile(seconds=0.01, tried=2), search=True, kernels=True)


def faults(data: Any, part: str = "") -> list[str]:
    """What the schema, or a part of it, has against the data."""
    validator = VALIDATOR
    if part:
        validator = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{part}"})
    return [f"{each.json_path}: {each.message:.200}" for each in validator.iter_errors(data)]


def test_the_schema_is_what_the_tool_writes() -> None:
    assert record_schema.PLACE.read_text(encoding="utf-8") == record_schema.text(), (
        "run `python -m tools.record_schema`"
    )
    Draft202012Validator.check_schema(SCHEMA)


def objects(schema: Any) -> Iterator[Any]:
    """All schemas of objects within a schema."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            yield from objects(each)


def test_every_field_is_described_and_no_other_is_let_in() -> None:
    found = list(objects(SCHEMA))
    assert len(found) > 30
    for each in found:
        assert each["additionalProperties"] is False
        assert each["description"].endswith(".")
        assert all(known["description"].endswith(".") for known in each["properties"].values())


def test_a_field_without_words_is_an_error() -> None:
    with pytest.raises(LookupError, match="fill"):
        record_schema._object("operand", ("source", "rows"), {"source": {}, "rows": {}})


@pytest.mark.parametrize(("text", "options"), FORMULAS)
def test_saved_records_validate(text: str, options: dict[str, Any]) -> None:
    found = ed.derive(text, budget=ed.Budget(states=25), **options)
    assert faults(saved(found, kernels=True)) == []


def test_a_record_with_everything_validates() -> None:
    data = whole()
    assert {*data} == {*SCHEMA["properties"]}
    assert data["kernels"]
    assert faults(data) == []
    assert faults(data | {"measured": []}) == []
    content = json.loads(zlib.decompress(b64decode(data["search"]["data"])))
    assert faults(content, "search_content") == []
    content["states"]["loops"][0] = -1
    assert faults(content, "search_content")


@cache
def steps() -> list[Step]:
    """A step of each rule and of each kind of witness at least."""
    found = [
        step
        for rule in RULES
        for seed in range(len(rule.examples))
        for step in rule.steps(seeded(rule, seed))
    ]
    for joint in JOINT_RULES:
        for example in joint.examples:
            roots = parse(example.before, dict(example.shapes)).roots()
            found += [step for group in joint.groups(roots) for step in group]
    return found


def test_steps_of_every_kind_validate() -> None:
    assert {type(step.witness).__name__ for step in steps()} == {*kinds()}
    seen = set()
    for step in steps():
        data = step_data(step, {})
        named = f"witness_{data['witness']['kind']}"
        seen.add(named)
        assert faults(data["witness"], named) == []
        assert faults(data, "step") == []
    assert seen | {"witness_ByLaw_by_its_term"} == {n for n in SCHEMA["$defs"] if "ness_" in n}


def test_a_law_named_by_its_term_alone_validates() -> None:
    step = next(step for step in steps() if type(step.witness).__name__ == "ByLaw")
    data = step_data(step, {})
    data["witness"] = {name: data["witness"][name] for name in ("kind", "term")}
    assert completed(data["witness"], step.before, step.after) is not None
    assert faults(data, "step") == []


def at(data: Any, path: str) -> Any:
    """The part of the data at the places, `candidates.0.steps`."""
    for place in filter(None, path.split(".")):
        data = data[int(place) if isinstance(data, list) else place]
    return data


STEP, STAGE = "candidates.1.steps.0", "candidates.1.stages.0"
SPOILT: tuple[tuple[str, str, Any], ...] = (
    ("", "format", "another"),
    ("", "version", 4),
    ("", "rule_set", "1"),
    ("", "target", "abacus"),
    ("", "accuracy", "some"),
    ("", "nan", None),
    ("", "more", 1),
    ("", "candidates", []),
    ("", "weights", ["A", "A"]),
    ("", "kernels", {}),
    ("input", "outputs", []),
    ("input", "text", "Y[i]\u0007 = 1"),
    ("input", "more", 1),
    ("input.tensors.A", "dtype", "float99"),
    ("input.tensors.A", "shape", [-16, 4]),
    ("input.tensors.A", "more", 1),
    ("statistics", "states", -1),
    ("statistics", "seconds", True),
    ("statistics", "pruned", {"why": "often"}),
    ("candidates.1", "predicted_seconds", -1),
    ("candidates.1", "more", 1),
    (STEP, "rule", 3),
    (STEP, "before", None),
    (STEP, "more", 1),
    (f"{STEP}.witness", "kind", "Belief"),
    (f"{STEP}.witness", "term", "0"),
    (f"{STEP}.witness", "parts", 0),
    (f"{STEP}.witness", "more", 1),
    (STAGE, "scope", "S"),
    (STAGE, "operator", "eOperator"),
    (STAGE, "binding", None),
    (STAGE, "more", 1),
    (f"{STAGE}.binding", "coefficient", [1, 0]),
    (f"{STAGE}.binding", "coefficient", "nan"),
    (f"{STAGE}.binding", "windows", [[0]]),
    (f"{STAGE}.binding", "roles", {"i": [True]}),
    (f"{STAGE}.binding.operands.0", "rows", [[0, [[-1, 1]], []]]),
    (f"{STAGE}.binding.operands.0", "rows", [[0, [], [[[0, [], []], 0, 1]]]]),
    (f"{STAGE}.binding.operands.0", "source", None),
    ("measured", "made", -1),
    ("measured", "environment", {"threads": 2}),
    ("measured", "checks", 1),
    ("measured", "trials", []),
    ("measured.trials.0", "seconds", -1),
    ("measured.trials.0", "candidate", -2),
    ("measured.trials.0", "spread", None),
    ("measured.trials.0", "digits_by_step", [["expand"]]),
    ("measured.trials.0", "more", 1),
    ("search", "version", 2),
    ("search", "more", 1),
    ("kernels.0", "stages", [-1]),
    ("kernels.0.configurations.0", "chosen", None),
    ("kernels.0.configurations.0", "shared", -1),
    ("kernels.0.configurations.0", "more", 1),
)
"""A part of the record, a field, and what stands there instead."""


def refused_by_both(data: Any) -> None:
    assert faults(data)
    with pytest.raises(RecordError):
        read_derivation(data)


@sampled(3)
@pytest.mark.parametrize(("part", "name", "value"), one_in(3, SPOILT))
def test_what_the_reader_refuses_for_its_shape_is_refused(part: str, name: str, value: Any) -> None:
    data = json.loads(json.dumps(whole()))
    at(data, part)[name] = value
    refused_by_both(data)


@pytest.mark.parametrize("part", sorted({part for part, _, _ in SPOILT} - {"input.tensors.A"}))
def test_a_missing_field_is_refused(part: str) -> None:
    names = [name for name in at(whole(), part) if part or name not in record_schema.MAY_BE_MISSING]
    for name in names:
        data = json.loads(json.dumps(whole()))
        del at(data, part)[name]
        assert faults(data)
    refused_by_both(data)
