"""Every witness that differs from a given one in one place.

Each number one more and one less; two neighbours exchanged; an entry left out, or twice; a range
one longer or shorter at either end, or moved; a term, a floor left out of a row; another law, and
other terms for its letters.  A witness holds numbers, names, rows, ranges and scopes, and all of
its fields are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.laws import REAL_LAWS


def corruptions(witness: Any) -> Iterator[tuple[str, Any]]:
    """The name of the field and the corrupted witness; each witness once."""
    seen = {witness}
    for item in fields(witness):
        for value in _values(getattr(witness, item.name)):
            made = replace(witness, **{item.name: value})
            if made not in seen:
                seen.add(made)
                yield item.name, made


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, Range):
        lo, hi = value
        yield from (Range(lo + a, hi + b) for a in (-1, 0, 1) for b in (-1, 0, 1))
    elif isinstance(value, Row):
        yield from _rows(value)
    elif isinstance(value, tuple):
        yield from _lists(value, _terms if Scope in map(type, value) else _values)
    elif isinstance(value, int):
        yield from (value - 1, value + 1)
    elif isinstance(value, str):
        yield from (name for name in ("", *REAL_LAWS) if name != value)
    elif not isinstance(value, Scope):
        raise TypeError(f"a witness with {value!r} in it is not corrupted")


def _lists(value: tuple[Any, ...], change: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    for k, entry in enumerate(value):
        for new in change(entry):
            yield (*value[:k], new, *value[k + 1 :])
        yield (*value[:k], *value[k + 1 :])
        yield (*value[: k + 1], *value[k:])
    for k in range(len(value) - 1):
        yield (*value[:k], value[k + 1], value[k], *value[k + 2 :])


def _terms(scope: Scope) -> Iterator[Scope]:
    """What stands for a letter of a law: a multiple, a number, one more."""
    for body in (
        expr.mul(expr.const(2), scope.body),
        expr.mul(expr.const(-1), scope.body),
        expr.add(expr.const(1), scope.body),
    ):
        yield make_scope(scope.loops, scope.sums, body, scope.reducer)


def _rows(row: Row) -> Iterator[Row]:
    """Also rows that are not in canonical form."""
    yield from (row._replace(const=row.const + a) for a in (-1, 1))
    for k, (i, a) in enumerate(row.terms):
        changed = [((i, a - 1),), ((i, a + 1),), ((i - 1, a),), ((i + 1, a),), (), ((i, a),) * 2]
        for new in changed:
            yield row._replace(terms=(*row.terms[:k], *new, *row.terms[k + 1 :]))
    for k, (inner, n, b) in enumerate(row.floors):
        numbers = [(inner, n - 1, b), (inner, n + 1, b), (inner, n, b - 1), (inner, n, b + 1)]
        several = [(new,) for new in numbers] + [((new, n, b),) for new in _rows(inner)]
        for floors in (*several, (), ((inner, n, b),) * 2):
            yield row._replace(floors=(*row.floors[:k], *floors, *row.floors[k + 1 :]))
