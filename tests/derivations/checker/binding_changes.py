"""All changes of a binding in one place: a row, a fill, an operand, a role, a window, a factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from typing import Any

from einderive.ta.ir import affine, expr
from einderive.ta.ir.node import Access
from einderive.ta.ir.operator import Binding, Window

Roles = Mapping[str, tuple[int, ...]]


def binding_changes(binding: Binding) -> Iterator[tuple[str, Binding]]:
    """What is changed, and the changed binding, which is another one."""
    count = len(binding.scope.domain)
    for what, field, values in (
        ("operands", "operands", _operands(binding.operands, count)),
        ("roles", "roles", _roles(binding.roles, count)),
        ("windows", "windows", _windows(binding.windows)),
        ("factor", "coefficient", iter((2 * binding.coefficient, -binding.coefficient, 0))),
    ):
        for value in values:
            if value != getattr(binding, field):
                changes: dict[str, Any] = {field: value}
                yield what, replace(binding, **changes)


def _operands(reads: tuple[Access, ...], count: int) -> Iterator[tuple[Access, ...]]:
    yield from _lists(reads)
    for place, read in enumerate(reads):
        others = [each.source for each in reads if len(each.rows) == len(read.rows)]
        made = [expr.access(source, read.rows, read.fill) for source in others]
        made.append(expr.access(read.source, read.rows, read.fill + 1))
        for at, row in enumerate(read.rows):
            changed = [affine.shift(row, by) for by in (-1, 1)]
            changed += [
                affine.add(row, affine.iterator(i), by) for i in range(count) for by in (-1, 1)
            ]
            for other in changed:
                rows = (*read.rows[:at], other, *read.rows[at + 1 :])
                made.append(expr.access(read.source, rows, read.fill))
        for new in made:
            if isinstance(new, Access):
                yield (*reads[:place], new, *reads[place + 1 :])


def _roles(roles: Roles, count: int) -> Iterator[Roles]:
    yield dict(roles) | {"zz": ()}
    for name, held in roles.items():
        yield {other: played for other, played in roles.items() if other != name}
        for new in _lists(held):
            yield dict(roles) | {name: new}
        for i in range(-1, count + 2):
            yield dict(roles) | {name: (*held, i)}
            for place in range(len(held)):
                yield dict(roles) | {name: (*held[:place], i, *held[place + 1 :])}
    for one, other in combinations(roles, 2):
        yield dict(roles) | {one: roles[other], other: roles[one]}
        if roles[one]:
            yield dict(roles) | {one: roles[one][1:], other: (*roles[other], roles[one][0])}
            yield dict(roles) | {one: roles[one][:-1], other: (roles[one][-1], *roles[other])}


def _windows(windows: tuple[Window, ...]) -> Iterator[tuple[Window, ...]]:
    yield (*windows, Window(0, 0, 0, 1, 1, 1, 1))
    yield from _lists(windows)
    for place, window in enumerate(windows):
        for item in fields(window):
            for value in (getattr(window, item.name) + 1, getattr(window, item.name) - 1, -1, 9):
                changes: dict[str, Any] = {item.name: value}
                yield (*windows[:place], replace(window, **changes), *windows[place + 1 :])
        opposite = {name: -getattr(window, name) for name in ("unit", "stride", "dilation")}
        yield (*windows[:place], replace(window, **opposite), *windows[place + 1 :])


def _lists(entries: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """An entry left out, an entry twice, two neighbours exchanged."""
    entries = tuple(entries)
    for place in range(len(entries)):
        yield entries[:place] + entries[place + 1 :]
        yield entries[: place + 1] + entries[place:]
        if place:
            yield (*entries[: place - 1], entries[place], entries[place - 1], *entries[place + 1 :])
