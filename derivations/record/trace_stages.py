"""The stages of a program as plain data: the operator of each, and its binding.

A scope is a number: its place among the stages of the program, producers first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, inf
from typing import Any

from einderive.derivations.checker import Claim
from einderive.derivations.record import trace
from einderive.derivations.search.graph import FOLDED, VIEW, Stage
from einderive.ta.errors import RecordError
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Number, Scope, Tensor
from einderive.ta.ir.operator import Binding, Operator, Window

WINDOW = ("operand", "dimension", "loop", "reduction", "unit", "stride", "dilation")
AS_WRITTEN = "eOperator"
"""The name of a stage that no operator computes."""


def claim_of(stage: Stage, operators: Sequence[Operator]) -> Claim:
    """The claim that a plan makes about one of its stages."""
    if stage.binding is None:
        return Claim(stage.scope, whole=stage.operator == FOLDED)
    operator = next(each for each in operators if each.name == stage.operator)
    return Claim(stage.scope, operator, stage.binding)


def stage_data(stage: Stage, places: Mapping[Scope, int]) -> dict[str, Any]:
    """The stage's scope, its operator, its predicted time, and its binding, if it has one."""
    return {
        "scope": places[stage.scope],
        "operator": stage.operator or AS_WRITTEN,
        "predicted_seconds": stage.seconds,
        "binding": None if stage.binding is None else _binding_data(stage.binding, places),
    }


def _binding_data(binding: Binding, places: Mapping[Scope, int]) -> dict[str, Any]:
    return {
        "operands": [_read_data(read, places) for read in binding.operands],
        "roles": {name: list(held) for name, held in binding.roles.items()},
        "windows": [[getattr(window, name) for name in WINDOW] for window in binding.windows],
        "coefficient": _number_data(binding.coefficient),
    }


def _read_data(read: Access, places: Mapping[Scope, int]) -> dict[str, Any]:
    source = read.source
    return {
        "source": source.name if isinstance(source, Tensor) else places[source],
        "rows": trace.plain(read.rows),
        "fill": _number_data(read.fill),
    }


def _number_data(value: Number) -> Any:
    """`[numerator, denominator]`, or the text of an infinity."""
    exact = value if abs(value) == inf else Fraction(value)
    return [exact.numerator, exact.denominator] if isinstance(exact, Fraction) else str(exact)


def read_claim(
    data: Any, scopes: Sequence[Scope], tensors: Mapping[str, Tensor], operators: Sequence[Operator]
) -> Claim:
    """The claim in a stage's data about the program whose stages are `scopes`.  RecordError if the
    data are malformed.  Data that belong to another program's stage give a claim with a problem."""
    try:
        return _claim(data, scopes, tensors, operators)
    except _Misfit as problem:
        return Claim(scopes[-1], problem=str(problem))


class _Misfit(Exception):
    """The data names what the program does not have."""


def _claim(
    data: Any, scopes: Sequence[Scope], tensors: Mapping[str, Tensor], operators: Sequence[Operator]
) -> Claim:
    given = trace.all_fields(data, ("scope", "operator", "predicted_seconds", "binding"), "a stage")
    scope = trace.part_of(given, "scope", _scope, scopes)
    name = trace.part_of(given, "operator", trace.text_of)
    trace.part_of(given, "predicted_seconds", trace.seconds_of)
    if given["binding"] is None:
        return _unbound(scope, name)
    operator = next((each for each in operators if each.name == name), None)
    if operator is None:
        raise RecordError(f"no known operator {name!r:.80}")
    return Claim(scope, operator, trace.part_of(given, "binding", _binding, scope, scopes, tensors))


def _unbound(scope: Scope, name: str) -> Claim:
    """A stage that is computed as it is written."""
    if name not in (AS_WRITTEN, FOLDED, VIEW):
        raise RecordError(f"a stage computed by {name!r:.80} lacks a binding")
    if name == VIEW and (scope.sums or not isinstance(scope.body, Access)):
        raise _Misfit("what is no single read is called a view")
    return Claim(scope, whole=name == FOLDED)


def _scope(value: Any, scopes: Sequence[Scope]) -> Scope:
    place = trace.integer_of(value)
    if not 0 <= place < len(scopes):
        raise _Misfit(f"{place} is no stage of the program, which has {len(scopes)}")
    return scopes[place]


def _binding(
    data: Any, scope: Scope, scopes: Sequence[Scope], tensors: Mapping[str, Tensor]
) -> Binding:
    given = trace.all_fields(data, ("operands", "roles", "windows", "coefficient"), "a binding")
    windows = [trace.items_of(window, len(WINDOW)) for window in trace.items_of(given["windows"])]
    return Binding(
        scope,
        tuple(_read(read, scopes, tensors) for read in trace.items_of(given["operands"])),
        {
            name: trace.read(held, tuple[int, ...])
            for name, held in trace.fields_of(given["roles"]).items()
        },
        tuple(Window(*map(trace.integer_of, window)) for window in windows),
        _number(given["coefficient"]),
    )


def _read(data: Any, scopes: Sequence[Scope], tensors: Mapping[str, Tensor]) -> Access:
    given = trace.all_fields(data, ("source", "rows", "fill"), "an operand")
    source: Tensor | Scope | None
    if isinstance(given["source"], str):
        source = tensors.get(given["source"])
        if source is None:
            raise RecordError(f"{given['source']!r:.80} is not a tensor of the formula")
    else:
        source = _scope(given["source"], scopes)
    rows = [trace.read_row(row) for row in trace.items_of(given["rows"])]
    if len(rows) != len(source.ranges):
        raise _Misfit(f"{len(rows)} rows for a source of {len(source.ranges)} dimensions")
    return expr.access(source, rows, _number(given["fill"]))


def _number(data: Any) -> Number:
    if isinstance(data, str):
        if data not in ("inf", "-inf"):
            raise RecordError(f"{data!r:.80} stands where a number belongs")
        return float(data)
    numerator, denominator = map(trace.integer_of, trace.items_of(data, 2))
    if denominator <= 0 or gcd(numerator, denominator) != 1:
        raise RecordError(f"{data!r:.80} stands where a fraction in lowest terms belongs")
    return Fraction(numerator, denominator)
