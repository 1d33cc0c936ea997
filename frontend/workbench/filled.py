"""Shapes that follow from others: what a person need not type.

    Y[i] = A[i,k]*x[k],  A=64,32     ->  x=32
    Y[i] = a*A[i]                    ->  a=         a scalar: nothing to say

A tensor's shape follows where each of its indices is an iterator alone whose extent the same
statement has from another tensor, or from its clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from einderive.ta.notation.parse import sizes_named, tensors_named
from einderive.ta.syntax.reader import complete_errors, read_program
from einderive.ta.syntax.tree import Expression, Name, Read, Statement, scalars
from einderive.ta.syntax.walks import iterator_names

PROPOSED, WINDOW = 64, 3
"""The size of an index of which nothing is known, in a proposal; and where it is an iterator that
is added to others elsewhere, as r in A[h+r]."""

Extents = dict[str, tuple[int | str, ...]]


def filled(text: str, given: Mapping[str, Sequence[int | str]]) -> Extents:
    """The shapes of inputs, besides the given ones, that follow from these."""
    read, targets = tensors_named(text)
    inputs = read - targets - sizes_named(text)
    statements = _statements(text)
    found = _closure(statements, {name: tuple(shape) for name, shape in given.items()})
    indexed = {name for each in statements for name, _ in _reads(each)}
    found |= dict.fromkeys(inputs - indexed - found.keys(), ())
    return {name: shape for name, shape in found.items() if name in inputs - given.keys()}


def proposed(text: str, given: Mapping[str, Sequence[int | str]]) -> Extents:
    """Shapes for the tensors of which none follows, so that all others do; `PROPOSED` or `WINDOW`
    for each index of which nothing is known."""
    statements = _statements(text)
    targets = {statement.target.name for statement in statements}
    found: Extents = {}
    for statement in statements:
        for name, indices in _reads(statement):
            known = _closure(statements, {n: tuple(s) for n, s in given.items()} | found)
            if name not in targets and name not in known:
                extents = dict.fromkeys(_added(statement), WINDOW) | _extents(statement, known)
                found[name] = tuple(
                    extents.get(index.name, PROPOSED) if isinstance(index, Name) else PROPOSED
                    for index in indices
                )
    return found


def _closure(statements: Sequence[Statement], given: Extents) -> Extents:
    """The given shapes and all that follow from them, those of results too."""
    found, count = dict(given), -1
    while count < len(found):
        count = len(found)
        for statement in statements:
            _fill(statement, found)
    return found


def _statements(text: str) -> tuple[Statement, ...]:
    with complete_errors(text):
        return read_program(text)


def _fill(statement: Statement, found: Extents) -> None:
    """Adds the shapes of the tensors that it reads, and of its own, where they follow."""
    extents = _extents(statement, found)
    places = [*_reads(statement)]
    if not statement.adds:
        places.append((statement.target.name, statement.indices))
    for name, indices in places:
        names = [index.name for index in indices if isinstance(index, Name)]
        if name not in found and len(names) == len(indices) and extents.keys() >= {*names}:
            found[name] = tuple(extents[each] for each in names)


def _extents(statement: Statement, found: Extents) -> dict[str, int | str]:
    """The extents of iterators by the statement's clause and the shapes of what it reads."""
    extents: dict[str, int | str] = {}
    for binding in statement.clause:
        if binding.known is not None and binding.known.lo == 0:
            extents[binding.name] = binding.known.hi
    for name, indices in _reads(statement):
        shape = found.get(name, ())
        if len(shape) == len(indices):
            pairs = zip(indices, shape, strict=True)
            extents |= {index.name: size for index, size in pairs if isinstance(index, Name)}
    return extents


def _added(statement: Statement) -> Iterator[str]:
    """The iterators that stand in an index with others."""
    for _, indices in _reads(statement):
        for index in indices:
            if not isinstance(index, Name):
                yield from (name.name for name in iterator_names(index))


def _reads(statement: Statement) -> Iterator[tuple[str, tuple[Expression, ...]]]:
    """The tensors that it reads with brackets, and their indices, in the order of the text."""
    for part in statement.parts:
        for each in scalars(part, into_scopes=True):
            if isinstance(each, Read) and isinstance(each.source, Name):
                yield each.source.name, each.indices
