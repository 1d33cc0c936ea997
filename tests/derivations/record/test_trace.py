"""Records of steps: there and back through JSON, and nothing but RecordError from bad ones."""

from __future__ import annotations

import copy
import json
from dataclasses import fields
from functools import cache
from random import Random
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from einderive.derivations.record import trace
from einderive.derivations.record.trace import (
    MOST_NESTED,
    plain,
    read,
    read_row,
    read_step,
    read_witness,
    step_data,
)
from einderive.derivations.rules import JOINT_RULES, RULES
from einderive.derivations.steps.kernel import Step, kinds
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.ta.errors import RecordError
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.show import tensors_of
from tests.amount import one_in
from tests.derivations.seeds import seeded
from tests.derivations.small import FORMULAS, program, searched


def there_and_back(step: Step, data: Any) -> Step:
    return read_step(json.loads(json.dumps(data)), tensors(step))


def tensors(step: Step) -> dict[str, Tensor]:
    return tensors_of(step.before) | tensors_of(step.after)


@cache
def all_steps() -> list[Step]:
    seeds = range(24)
    steps = [step for rule in RULES for seed in seeds for step in rule.steps(seeded(rule, seed))]
    return steps + joined_steps()


def joined_steps() -> list[Step]:
    tensors = {n: expr.tensor(n, s) for n, s in (("X", (3, 4)), ("W", (2, 4)), ("V", (5, 4)))}
    texts = ("{L[t:0:3,o:0:2] S[i:0:4] X[t,i]*W[o,i]}", "{L[t:0:3,o:0:5] S[i:0:4] X[t,i]*V[o,i]}")
    scopes = [parse_expression(text, tensors) for text in texts]
    return [
        step
        for rule in JOINT_RULES
        for group in rule.groups([scope for scope in scopes if isinstance(scope, Scope)])
        for step in group
    ]


def test_the_steps_have_every_kind_of_witness() -> None:
    assert {type(step.witness).__name__ for step in all_steps()} == set(kinds())
    assert any(
        row.floors
        for step in all_steps()
        if isinstance(step.witness, ReindexLoops)
        for row in step.witness.backward
    )


def test_a_step_comes_back_as_the_same_objects() -> None:
    for step in all_steps():
        found = there_and_back(step, step_data(step, {}))
        assert found == step
        assert found.before is step.before
        assert found.after is step.after


@pytest.mark.parametrize("name", one_in(2, FORMULAS))
def test_steps_of_plans_come_back(name: str) -> None:
    for plan in searched(name).plans:
        for step in plan.steps:
            assert there_and_back(step, step_data(step, program(name).hints)) == step


BAD_WITNESSES: dict[str, Any] = {
    "nothing": None,
    "a text": "Merge",
    "a list": ["Merge", 0],
    "no kind": {},
    "an unknown kind": {"kind": "Conjure"},
    "a kind that is no text": {"kind": ["Merge"], "stage": 0},
    "a missing field": {"kind": "Merge"},
    "a fraction": {"kind": "Merge", "stage": 1.0},
    "a truth value": {"kind": "Merge", "stage": True},
    "a list for a number": {"kind": "Merge", "stage": [0]},
    "a number for a list": {"kind": "SplitSum", "inner": 0},
    "a text for a list": {"kind": "SplitSum", "inner": "01"},
    "texts in a list": {"kind": "SplitSum", "inner": ["0"]},
    "no range": {"kind": "ReindexLoops", "forward": [], "backward": [], "ranges": [[0]]},
    "a number for ranges": {"kind": "ReindexLoops", "forward": [], "backward": [], "ranges": 3},
    "a short row": {"kind": "ReindexSums", "forward": [[0, []]], "backward": [], "ranges": []},
    "a row of numbers": {
        "kind": "ReindexSums",
        "forward": [[0, [1, 2], []]],
        "backward": [],
        "ranges": [],
    },
    "a divisor of zero": {
        "kind": "ReindexSums",
        "forward": [[0, [], [[[0, [[0, 1]], []], 0, 1]]]],
        "backward": [],
        "ranges": [],
    },
}


@pytest.mark.parametrize("data", BAD_WITNESSES.values(), ids=BAD_WITNESSES)
def test_a_bad_witness_is_a_record_error(data: Any) -> None:
    with pytest.raises(RecordError):
        read_witness(data, {})


def test_a_row_nested_without_end_is_a_record_error() -> None:
    data: Any = [0, [[0, 1]], []]
    for _ in range(MOST_NESTED + 1):
        data = [1, [], [[data, 2, 1]]]
    with pytest.raises(RecordError, match="deep"):
        read_row(data)
    (_, _, ((inner, _, _),)) = data
    assert plain(read_row(inner)) == inner


def test_rows_come_back() -> None:
    row = affine.add(affine.floordiv(affine.shift(affine.iterator(3), -2), 4), affine.iterator(1))
    assert read_row(json.loads(json.dumps(plain(row)))) == row


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rule": None}, "lacks 'rule'"),
        ({"before": None}, "lacks 'before'"),
        ({"witness": None}, "lacks 'witness'"),
        ({"before": "{L[i:0:4] A[i"}, "cannot be read"),
        ({"before": "{L[i:0:4] Unknown[i]}"}, "cannot be read"),
        ({"after": "A"}, "not a scope"),
        ({"after": 7}, "where a text belongs"),
        ({"witness": []}, "named fields"),
    ],
)
def test_a_bad_step_is_a_record_error(change: dict[str, Any], reason: str) -> None:
    step = all_steps()[0]
    data = {k: v for k, v in (step_data(step, {}) | change).items() if v is not None}
    with pytest.raises(RecordError, match=reason):
        read_step(data, tensors(step))


JUNK: tuple[Any, ...] = (None, True, -1, 0, 2, 10**30, 0.5, "", "{L", "i", [], [[]], [0, 1], {})


def spoil(data: Any, random: Random) -> Any:
    """The data with one part replaced by something else, or left out."""
    if isinstance(data, dict | list) and data and random.random() < 0.85:
        keys = list(data) if isinstance(data, dict) else range(len(data))
        key = random.choice(list(keys))
        if random.random() < 0.15:
            del data[key]
        else:
            data[key] = spoil(data[key], random)
        return data
    return copy.deepcopy(random.choice(JUNK))


def test_a_spoiled_record_is_refused_or_read() -> None:
    random = Random(5)
    refused = 0
    for step in all_steps():
        data = json.loads(json.dumps(step_data(step, {})))
        try:
            assert isinstance(read_step(spoil(data, random), tensors(step)), Step)
        except RecordError:
            refused += 1
    assert refused >= len(all_steps()) // 2


def test_every_field_of_every_witness_has_a_reader() -> None:
    types = {get_type_hints(kind)[item.name] for kind in kinds().values() for item in fields(kind)}
    items = {get_args(kind)[0] if get_origin(kind) is tuple else kind for kind in types}
    assert items <= {*trace.READERS, Scope}


def test_values_are_read_by_their_types() -> None:
    assert read([[1, 2], []], tuple[tuple[int, ...], ...]) == ((1, 2), ())
    assert read([[0, 3]], tuple[Range, ...]) == (Range(0, 3),)
    assert read(["a", None], tuple[str | None, ...], {str | None: lambda text: text}) == ("a", None)
    numbers, ranges = tuple[int, ...], tuple[Range, ...]
    for value, kind in ((["1"], numbers), (1, numbers), ([[0, 1, 2]], ranges)):
        with pytest.raises(RecordError):
            read(value, kind)
