"""The record of a derivation as plain data: text for expressions, lists for witnesses.

Nothing in a record is executed on reading; expressions are parsed, witnesses are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from einderive.derivations.record.earlier import completed
from einderive.derivations.steps.kernel import Step, Witness, kinds
from einderive.ta.errors import RecordError, TextError
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Hints
from einderive.ta.printing.defined import parse_defined, show_defined

T = TypeVar("T")
FORMAT = "einderive derivation"
VERSION = 3
READ = (2, 3)
"""The versions that can be read.  Version 2 does not state the outputs of the input: they are those
that its text shows."""

MOST_NESTED = 32
"""Floors that are nested more deeply are refused on reading."""
MOST_ITERATORS = 1 << 16
"""Numbers of iterators from here on are refused too: an expression holds its iterators as bits."""


def plain(value: Any) -> Any:
    """The value with lists for its tuples and with the texts of its scopes.  A row is
    `[const, [[iterator, coefficient], ...], [[row, divisor, coefficient], ...]]`."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return show_defined(value) if isinstance(value, Scope) else value


def read_row(data: Any, depth: int = 0) -> Row:
    if depth > MOST_NESTED:
        raise RecordError(f"a row has // within // more than {MOST_NESTED} deep")
    const, terms, floors = items_of(data, 3)
    pairs = (items_of(term, 2) for term in items_of(terms))
    triples = (items_of(floor, 3) for floor in items_of(floors))
    return Row(
        integer_of(const),
        tuple((_iterator(i), integer_of(a)) for i, a in pairs),
        tuple((read_row(inner, depth + 1), _positive(n), integer_of(b)) for inner, n, b in triples),
    )


@contextmanager
def within(place: str) -> Iterator[None]:
    """Adds the part of the record to RecordErrors that are raised inside."""
    try:
        yield
    except RecordError as error:
        raise error.within(place) from None


def part_of(given: Mapping[str, Any], name: str, read: Callable[..., T], *known: object) -> T:
    """A field as `read` gives it; errors name the field."""
    with within(name):
        return read(given[name], *known)


def items_of(value: Any, count: int | None = None) -> list[Any]:
    if not isinstance(value, list | tuple) or (count is not None and len(value) != count):
        size = "a list" if count is None else f"a list of {count}"
        raise RecordError(f"{value!r:.80} stands where {size} belongs")
    return list(value)


def fields_of(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RecordError(f"{value!r:.80} stands where an object with named fields belongs")
    return value


def known_fields(value: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """The object, if it has no fields but these.  An unknown field would not be checked, so it is
    refused."""
    given = fields_of(value)
    for name in given:
        if name not in names:
            raise RecordError(
                f"a field {name!r:.80} is not known here",
                next_step=f"leave it out; the fields are {', '.join(names)}",
            )
    return given


def all_fields(value: Any, names: Sequence[str], what: str) -> Mapping[str, Any]:
    """The object, if it has exactly these fields."""
    given = known_fields(value, names)
    for name in names:
        if name not in given:
            raise RecordError(f"{what} lacks {name!r}")
    return given


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise RecordError(f"{value!r:.80} stands where a text belongs")
    if not value.replace("\n", " ").isprintable():
        raise RecordError(f"the text {value!a:.80} has characters that cannot be shown")
    return value


def integer_of(value: Any) -> int:
    if type(value) is not int:
        raise RecordError(f"{value!r:.80} stands where an integer belongs")
    return value


def truth_of(value: Any) -> bool:
    if not isinstance(value, bool):
        raise RecordError(f"{value!r:.80} stands where true or false belongs")
    return value


def seconds_of(value: Any) -> float:
    """A number of seconds.  It is a prediction, which nothing checks."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise RecordError(f"{value!r:.80} stands where a number of seconds belongs")
    return float(value)


def _iterator(value: Any) -> int:
    number = integer_of(value)
    if not 0 <= number < MOST_ITERATORS:
        raise RecordError(f"{value!r:.80} stands where the number of an iterator belongs")
    return number


def _positive(value: Any) -> int:
    if integer_of(value) <= 0:
        raise RecordError(f"{value!r:.80} stands where a positive divisor belongs")
    return int(value)


def _range(value: Any) -> Range:
    return Range(*map(integer_of, items_of(value, 2)))


READERS: Mapping[Any, Callable[[Any], Any]] = {
    int: integer_of,
    str: text_of,
    bool: truth_of,
    Row: read_row,
    Range: _range,
}
"""The readers of values by their types."""


def read(
    value: Any, kind: Any, known: Mapping[Any, Callable[[Any], Any]] = MappingProxyType({})
) -> Any:
    """The value of this type, `tuple[X, ...]` from a list; `known` reads further types."""
    if get_origin(kind) is tuple:
        return tuple([read(item, get_args(kind)[0], known) for item in items_of(value)])
    return (known.get(kind) or READERS[kind])(value)


def witness_data(witness: Witness) -> dict[str, Any]:
    """The witness's kind and its fields."""
    values = {item.name: plain(getattr(witness, item.name)) for item in fields(witness)}
    return {"kind": type(witness).__name__, **values}


def read_witness(data: Any, tensors: Mapping[str, Tensor]) -> Witness:
    given = fields_of(data)
    kind = kinds().get(str(given.get("kind")))
    if kind is None:
        raise RecordError(f"unknown kind of witness: {given.get('kind')!r:.80}")
    types = get_type_hints(kind)
    names = [item.name for item in fields(kind)]
    all_fields(given, ["kind", *names], f"the witness {kind.__name__}")
    scopes = {Scope: lambda text: _scope(text, tensors)}
    return kind(**{name: part_of(given, name, read, types[name], scopes) for name in names})


def step_data(step: Step, hints: Hints) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "before": show_defined(step.before, hints=hints),
        "after": show_defined(step.after, hints=hints),
        "witness": witness_data(step.witness),
    }


def read_step(data: Any, tensors: Mapping[str, Tensor]) -> Step:
    """The step from its data.  RecordError if something is missing, misplaced or unreadable."""
    given = all_fields(data, ("rule", "before", "after", "witness"), "the step")
    rule = part_of(given, "rule", text_of)
    before, after = (part_of(given, side, _scope, tensors) for side in ("before", "after"))
    if before.loops != after.loops:
        raise RecordError("the two sides of a step have different loops")

    def witness(stated: Any) -> Witness:
        return completed(stated, before, after) or read_witness(stated, tensors)

    return Step(rule, before, after, part_of(given, "witness", witness))


def _scope(value: Any, tensors: Mapping[str, Tensor]) -> Scope:
    try:
        found = parse_defined(text_of(value), tensors)
    except RecordError:
        raise
    except TextError as error:
        raise RecordError(
            f"a scope cannot be read: {error.message}",
            text=error.text,
            span=error.span,
            sizes=error.sizes,
        ) from None
    if not isinstance(found, Scope):
        raise RecordError(f"{value!r:.80} is not a scope, and each side of a step must be one")
    return found
