"""The record of a derivation as plain data: text for expressions, lists for witnesses.

Nothing in a record is executed on reading; expressions are parsed, witnesses are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from derivations.kernel import WITNESSES, Step, Witness
from ta.affine import Range, Row
from ta.errors import RecordError, TextError
from ta.node import Scope, Tensor
from ta.parse import parse_expression
from ta.program import Hints
from ta.show import show

FORMAT = "einderive derivation"
VERSION = 1

MOST_NESTED = 32
"""Floors within floors deeper than this are refused on reading."""


def row_data(row: Row) -> Any:
    """`[const, [[iterator, coefficient], ...], [[row, divisor, coefficient], ...]]`."""
    floors = [[row_data(inner), n, b] for inner, n, b in row.floors]
    return [row.const, [list(term) for term in row.terms], floors]


def read_row(data: Any, depth: int = 0) -> Row:
    if depth > MOST_NESTED:
        raise RecordError(f"a row has // within // more than {MOST_NESTED} deep")
    const, terms, floors = _items(data, 3)
    pairs = (_items(term, 2) for term in _items(terms))
    triples = (_items(floor, 3) for floor in _items(floors))
    return Row(
        _integer(const),
        tuple((_integer(i), _integer(a)) for i, a in pairs),
        tuple((read_row(inner, depth + 1), _positive(n), _integer(b)) for inner, n, b in triples),
    )


def _items(value: Any, count: int | None = None) -> list[Any]:
    if not isinstance(value, list | tuple) or (count is not None and len(value) != count):
        size = "a list" if count is None else f"a list of {count}"
        raise RecordError(f"{value!r:.80} stands where {size} belongs")
    return list(value)


def _fields(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RecordError(f"{value!r:.80} stands where an object with named fields belongs")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise RecordError(f"{value!r:.80} stands where an integer belongs")
    return value


def _positive(value: Any) -> int:
    if _integer(value) <= 0:
        raise RecordError(f"{value!r:.80} stands where a positive divisor belongs")
    return int(value)


def _rows(value: Any) -> tuple[Row, ...]:
    return tuple(read_row(row) for row in _items(value))


def _ranges(value: Any) -> tuple[Range, ...]:
    pairs = (_items(bound, 2) for bound in _items(value))
    return tuple(Range(_integer(lo), _integer(hi)) for lo, hi in pairs)


def _integers(value: Any) -> tuple[int, ...]:
    return tuple(map(_integer, _items(value)))


_READERS: dict[str, Callable[[Any], Any]] = {
    "tuple[Row, ...]": _rows,
    "tuple[Range, ...]": _ranges,
    "tuple[int, ...]": _integers,
    "int": _integer,
}
"""How a witness's field is read, by its annotation."""


def witness_data(witness: Witness) -> dict[str, Any]:
    """The witness's kind and its fields."""
    data: dict[str, Any] = {"kind": type(witness).__name__}
    for item in fields(witness):
        value = getattr(witness, item.name)
        if item.name in ("forward", "backward", "rows"):
            data[item.name] = [row_data(row) for row in value]
        elif isinstance(value, Scope):
            data[item.name] = show(value)
        elif item.name == "ranges":
            data[item.name] = [list(bound) for bound in value]
        else:
            data[item.name] = list(value) if isinstance(value, tuple) else value
    return data


def read_witness(data: Any, tensors: Mapping[str, Tensor]) -> Witness:
    given = _fields(data)
    kind = WITNESSES.get(str(given.get("kind")))
    if kind is None:
        raise RecordError(f"unknown kind of witness: {given.get('kind')!r:.80}")
    values: dict[str, Any] = {}
    for item in fields(kind):
        if item.name not in given:
            raise RecordError(f"the witness {kind.__name__} lacks {item.name!r}")
        if item.type == "Scope":
            values[item.name] = _scope(given[item.name], tensors)
        else:
            values[item.name] = _READERS[str(item.type)](given[item.name])
    result: Witness = kind(**values)
    return result


def step_data(step: Step, hints: Hints) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "before": show(step.before, hints=hints),
        "after": show(step.after, hints=hints),
        "witness": witness_data(step.witness),
    }


def read_step(data: Any, tensors: Mapping[str, Tensor]) -> Step:
    """The step of its data; RecordError where something is missing, misplaced or unreadable."""
    given = _fields(data)
    for name in ("rule", "before", "after", "witness"):
        if name not in given:
            raise RecordError(f"a step lacks {name!r}")
    before, after = (_scope(given[side], tensors) for side in ("before", "after"))
    return Step(str(given["rule"]), before, after, read_witness(given["witness"], tensors))


def _scope(text: Any, tensors: Mapping[str, Tensor]) -> Scope:
    try:
        found = parse_expression(str(text), tensors)
    except TextError as error:
        raise RecordError(f"a side of a step cannot be read: {error}") from error
    if not isinstance(found, Scope):
        raise RecordError(f"a step has {text!r}, which is not a scope, as one of its sides")
    return found
