"""The record of a derivation as plain data: text for expressions, lists for witnesses.

Nothing in a record is executed on reading; expressions are parsed, witnesses are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from derivations.kernel import WITNESSES, Step, Witness
from ta.affine import Range, Row
from ta.errors import RecordError
from ta.node import Scope, Tensor
from ta.parse import parse_expression
from ta.program import Hints
from ta.show import show

FORMAT = "einderive derivation"
VERSION = 1


def row_data(row: Row) -> Any:
    """`[const, [[iterator, coefficient], ...], [[row, divisor, coefficient], ...]]`."""
    floors = [[row_data(inner), n, b] for inner, n, b in row.floors]
    return [row.const, [list(term) for term in row.terms], floors]


def read_row(data: Any) -> Row:
    const, terms, floors = data
    return Row(
        _integer(const),
        tuple((_integer(i), _integer(a)) for i, a in terms),
        tuple((read_row(inner), _positive(n), _integer(b)) for inner, n, b in floors),
    )


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise RecordError(f"{value!r} stands where an integer belongs")
    return value


def _positive(value: Any) -> int:
    if _integer(value) <= 0:
        raise RecordError(f"{value!r} stands where a positive divisor belongs")
    return int(value)


def witness_data(witness: Witness) -> dict[str, Any]:
    """The witness's kind and its fields."""
    data: dict[str, Any] = {"kind": type(witness).__name__}
    for item in fields(witness):
        value = getattr(witness, item.name)
        if item.name in ("forward", "backward"):
            data[item.name] = [row_data(row) for row in value]
        elif item.name == "ranges":
            data[item.name] = [list(bound) for bound in value]
        else:
            data[item.name] = list(value) if isinstance(value, tuple) else value
    return data


def read_witness(data: Mapping[str, Any]) -> Witness:
    kind = WITNESSES.get(str(data.get("kind")))
    if kind is None:
        raise RecordError(f"unknown kind of witness: {data.get('kind')!r}")
    values: dict[str, Any] = {}
    for item in fields(kind):
        if item.name not in data:
            raise RecordError(f"the witness {kind.__name__} lacks {item.name!r}")
        value = data[item.name]
        if item.name in ("forward", "backward"):
            values[item.name] = tuple(read_row(row) for row in value)
        elif item.name == "ranges":
            values[item.name] = tuple(Range(_integer(lo), _integer(hi)) for lo, hi in value)
        elif isinstance(value, list):
            values[item.name] = tuple(_integer(v) for v in value)
        else:
            values[item.name] = _integer(value)
    result: Witness = kind(**values)
    return result


def step_data(step: Step, hints: Hints) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "before": show(step.before, hints=hints),
        "after": show(step.after, hints=hints),
        "witness": witness_data(step.witness),
    }


def read_step(data: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Step:
    before = _scope(str(data["before"]), tensors)
    after = _scope(str(data["after"]), tensors)
    return Step(str(data["rule"]), before, after, read_witness(data["witness"]))


def _scope(text: str, tensors: Mapping[str, Tensor]) -> Scope:
    found = parse_expression(text, tensors)
    if not isinstance(found, Scope):
        raise RecordError(f"a step has {text!r}, which is not a scope, as one of its sides")
    return found
