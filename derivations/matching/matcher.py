"""Matching a scope against many operators at once.

Facts about a scope are computed once and shared by all definitions that differ only in the number
of windows.  A definition is tried only if it has as many operands as the body has factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from einderive.derivations.matching.match import (
    IMPOSSIBLE,
    NO_WINDOWS,
    Family,
    Table,
    family_of,
    reads_iterators,
)
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.node import Node, Reducer, Scope
from einderive.ta.ir.operator import Binding, Mismatch, Operator


class Matches(NamedTuple):
    """The operators that a scope is an instance of, and the least distance to any operator with the
    first one that has it."""

    bindings: tuple[tuple[Operator, Binding], ...]
    distance: float
    nearest: str


_Member = tuple[int, Operator]
"""An operator with its position in the list."""
_Recognising = tuple[int, Callable[[Scope], Binding | Mismatch]]


class _Asked(NamedTuple):
    """For scopes of one kind: the operators with a `recognise` of their own that may match, and the
    position of the first operator that refuses the kind."""

    recognising: tuple[_Recognising, ...]
    refused: int | None


class _Found:
    """The bindings so far by the operators' positions, and the least distance with the first
    position that has it."""

    def __init__(self) -> None:
        self.bound: dict[int, Binding] = {}
        self.least, self.first = float("inf"), -1

    def add(self, distance: float, position: int) -> None:
        if distance < self.least or (distance == self.least and position < self.first):
            self.least, self.first = distance, position

    def bind(self, position: int, binding: Binding) -> None:
        self.bound[position] = binding
        self.add(0.0, position)


class _Candidates:
    """The operators defined by a product that allow one reducer, and the first that does not."""

    def __init__(self, operators: Sequence[Operator], reducer: Reducer | None) -> None:
        self.families: dict[int, dict[Family, list[_Member]]] = {}
        """By the number of operands; the members with the fewest windows first."""
        self.refused: int | None = None
        for position, operator in enumerate(operators):
            if operator.recognise is not None:
                continue
            if reducer is not None and reducer not in operator.reducers:
                self.refused = position if self.refused is None else self.refused
                continue
            family = family_of(operator.pattern)
            group = self.families.setdefault(family.operands, {})
            group.setdefault(family, []).append((position, operator))
        self.first = {
            count: min(position for members in group.values() for position, _ in members)
            for count, group in self.families.items()
        }
        for group in self.families.values():
            for members in group.values():
                members.sort(key=lambda member: (len(member[1].pattern.pairs), member[0]))


class Matcher:
    """`match` for many operators at once: definitions of one family share their trials."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        self._operators = tuple(operators)
        self._recognising = [
            (position, operator.recognise)
            for position, operator in enumerate(operators)
            if operator.recognise is not None
        ]
        self._asked: dict[tuple[type[Node], bool, bool], _Asked] = {}
        self._candidates = {
            reducer: _Candidates(operators, reducer) for reducer in (None, *REDUCERS)
        }

    def matches(self, scope: Scope) -> Matches:
        """The matches of the scope, as `match` finds them for each operator, in the operators'
        order."""
        found = _Found()
        iterators = reads_iterators(scope)
        self._recognise(scope, iterators, found)
        if iterators:
            return self._found(found)
        candidates = self._candidates[scope.reducer if scope.sums else None]
        if candidates.refused is not None:
            found.add(IMPOSSIBLE, candidates.refused)
        if scope.empty:
            for first in candidates.first.values():
                found.add(IMPOSSIBLE, first)
        else:
            table = Table(scope)
            for operands, group in candidates.families.items():
                weight = table.body_distance(operands)
                if weight:
                    found.add(weight, candidates.first[operands])
                else:
                    for family, members in group.items():
                        if table.slides or family.window is None:
                            _try_family(table, family, members, found)
                        else:
                            position, operator = members[0]
                            found.add(NO_WINDOWS.distance(len(operator.pattern.pairs)), position)
        return self._found(found)

    def _recognise(self, scope: Scope, iterators: bool, found: _Found) -> None:
        kind = type(scope.body), bool(scope.sums), iterators
        asked = self._asked.get(kind)
        if asked is None:
            asked = self._asked[kind] = self._asked_of(*kind)
        if asked.refused is not None:
            found.add(IMPOSSIBLE, asked.refused)
        for position, recognise in asked.recognising:
            result = recognise(scope)
            if isinstance(result, Binding):
                found.bind(position, result)
            elif result.weight <= found.least:
                found.add(result.weight, position)

    def _asked_of(self, body: type[Node], sums: bool, iterators: bool) -> _Asked:
        asked: list[_Recognising] = []
        refused = [0] if iterators and self._operators else []
        for position, recognise in self._recognising:
            operator = self._operators[position]
            if iterators > operator.iterators:
                continue
            if issubclass(body, operator.bodies) and operator.sums in (None, sums):
                asked.append((position, recognise))
            else:
                refused.append(position)
        return _Asked(tuple(asked), min(refused, default=None))

    def _found(self, found: _Found) -> Matches:
        bindings = tuple([(self._operators[p], found.bound[p]) for p in sorted(found.bound)])
        nearest = self._operators[found.first].name if found.first >= 0 else ""
        return Matches(bindings, found.least, nearest)


def _try_family(table: Table, family: Family, members: Sequence[_Member], found: _Found) -> None:
    """Adds what `match` finds for the members."""
    for order in table.orders:
        missing = members
        if found.bound:
            missing = [member for member in members if member[0] not in found.bound]
            if not missing:
                return
        trial = order.trial(family)
        if family.window is not None and not trial.windows:
            position, operator = missing[0]  # the others have more windows to miss
            found.add(trial.distance(len(operator.pattern.pairs)), position)
            continue
        for position, operator in missing:
            weight = trial.distance(len(operator.pattern.pairs))
            if weight:
                found.add(weight, position)
                continue
            binding = order.bind(operator.pattern, trial, table.coefficient)
            if operator.constraint(binding) is None:
                found.bind(position, binding)
            else:
                found.add(1.0, position)
