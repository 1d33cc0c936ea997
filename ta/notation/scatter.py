"""Statements that add to elements: `+=`, at an index that is data or is built from iterators.

    Y[I[n], d] += A[n,d]      ->   Y[v,d] = sum[n](where(I[n] == v, A[n,d], 0))
    Y[i+j] += A[i]*B[j]       ->   Y[v] = sum[i,j](where(i+j == v, A[i]*B[j], 0))
    Y[n, I[n]] += A[n]        ->   Y[n,v] = where(I[n] == v, A[n], 0)

For all values of the iterators on the left, the right side is added to the element of Y there, and
nothing where Y has none, at -1 too.  The other iterators of the right side are summed in it, as in
every statement.  The sizes of Y are given, or those of what it adds to:

    Y[i] = b[i]; Y[I[n]] += A[n]   ->   Y0[i] = b[i]; Y[v] = Y0[v] + sum[n](where(I[n] == v, ..))
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import TypeAlias

from einderive.ta.notation.einstein import all_of
from einderive.ta.notation.index import as_value, check_index
from einderive.ta.notation.lowering import EXAMPLE_SIZES
from einderive.ta.refusals import NotationError, refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.walks import iterator_names, with_parts

Shape: TypeAlias = Sequence[int]


def versions(
    statements: Sequence[tree.Statement], taken: Set[str]
) -> tuple[tuple[tree.Statement, ...], dict[str, str]]:
    """The statements, where one that adds to the result of an earlier one has it under a name that
    is not taken; and these names, with that in the text."""
    found: list[tree.Statement] = []
    names: dict[str, str] = {}
    used = {*taken}
    for each in statements:
        target = each.target
        earlier = next((k for k, s in enumerate(found) if s.target.name == target.name), None)
        if each.adds and earlier is not None:
            fresh = next(name for k in count() if (name := f"{target.name}{k}") not in used)
            used.add(fresh)
            names[fresh] = target.name
            output = each.output or found[earlier].output
            moved = [_renamed(s, target.name, fresh) for s in (*found[earlier + 1 :], each)]
            first = replace(found[earlier], target=replace(target, name=fresh), output=False)
            found[earlier:] = [first, *moved[:-1]]
            before = tree.Name(target.span, fresh)
            each = replace(moved[-1], before=before, output=output)
        found.append(each)
    return tuple(found), names


def _renamed(statement: tree.Statement, old: str, new: str) -> tree.Statement:
    """The statement, reading `new` wherever it reads `old`."""

    def named(name: tree.Name) -> tree.Name:
        return replace(name, name=new) if name.name == old else name

    def of(part: tree.Expression) -> tree.Expression:
        match part:
            case tree.Name():
                return named(part)
            case tree.Read(_, tree.Name() as source):
                part = replace(part, source=named(source))
        return with_parts(part, of, into_scopes=True)

    indices = tuple(
        index if isinstance(index, tree.Name) else of(index) for index in statement.indices
    )
    return replace(statement, value=of(statement.value), indices=indices)


def with_places(statement: tree.Statement, shape: Shape | None, taken: Set[str]) -> tree.Statement:
    """The statement with distinct iterators on the left, of names that are not taken, and with the
    places where it adds."""
    if not statement.adds:
        return statement
    fresh = (name for k in count(1) if (name := f"v{k}" if k > 1 else "v") not in taken)
    left: list[tree.Expression] = []
    places: list[tree.Expression] = []
    loops: set[str] = set()
    for dimension, index in enumerate(statement.indices):
        lone = isinstance(index, tree.Name) and index.name not in loops
        if not lone and not isinstance(index, tree.Ellipsis):
            if shape is None:
                raise _open_size(statement, dimension)
            check_index(index)
            place, index = index, tree.Name(index.span, next(fresh))
            places.append(tree.Comparison(place.span, (as_value(place), index), ("==",)))
        loops |= {index.name} if isinstance(index, tree.Name) else set()
        left.append(index)
    return replace(statement, indices=tuple(left), places=tuple(places))


def _open_size(statement: tree.Statement, dimension: int) -> NotationError:
    name = statement.target.name
    span, shape = statement.indices[dimension].span, str(EXAMPLE_SIZES[: len(statement.indices)])
    return refused("open-size", span, name=name, dimension=dimension + 1, shape=shape)


def added(
    statement: tree.Statement, value: tree.Expression, places: Sequence[tree.Expression]
) -> tree.Expression:
    """The value of a statement that adds `value` at the places, both of them explicit."""
    loops = [index for index in statement.indices if isinstance(index, tree.Name)]
    known = {loop.name for loop in loops}
    own = {n.name: n for place in places for n in iterator_names(place) if n.name not in known}
    span = value.span
    if places:
        value = tree.Call(span, "where", (all_of(places), value, tree.Number(span, Fraction(0))))
    if own:
        value = tree.Reduction(span, "sum", tuple(own.values()), value)
    if statement.before is not None:
        before = tree.Read(statement.target.span, statement.before, None, tuple(loops))
        value = tree.Sum(span, ((False, before), (False, value)))
    return value
