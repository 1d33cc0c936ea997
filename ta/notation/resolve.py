"""The meaning of a name in a value or a condition: an iterator, a constant, or a scalar tensor.

    Y[i] = t*A[i] + pi*i     t a tensor, pi the number, i the iterator
    where(k < i, ..)         iterators, if no tensor has one of these names

A name means a tensor if there is a tensor of that name.  Otherwise it means an iterator, if the
statement uses it as one, or a constant.  Any other name is an iterator if it is compared with
indices only, and else a tensor that is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import replace
from functools import partial

from einderive.ta.ir.names import CONSTANTS
from einderive.ta.syntax import tree
from einderive.ta.syntax.walks import index_names, is_index, iterator_names, with_parts

_parts = partial(tree.scalars, into_scopes=True)
ROUNDING = {"//": "floor_divide", "%": "remainder"}


def tensor_names(statement: tree.Statement, known: Set[str]) -> frozenset[str]:
    """The names in values and conditions that are tensors'; `known` are those of all tensors."""
    iterators = {name.name for index in statement.indices for name in iterator_names(index)}
    iterators |= {binding.name for binding in statement.clause}
    iterators |= {name for part in statement.parts for name in iterators_of(part)}
    found = [tensors_in(part, known, iterators) for part in statement.parts]
    return frozenset().union(*found)


def with_scalar_places(statement: tree.Statement, scalars: Collection[str]) -> tree.Statement:
    """The statement in which the names of these tensors without dimensions, as indices, are reads:
    `z[J]` has the element of z at the place that J holds.  A name that the statement binds is an
    iterator."""
    bound = {name.name for index in statement.indices for name in iterator_names(index)}
    bound |= {binding.name for binding in statement.clause}
    for part in (inner for value in statement.parts for inner in _parts(value)):
        if isinstance(part, tree.Reduction | tree.Defined | tree.Size):
            bound |= {name.name for name in part.names}
    places = {*scalars} - bound
    if not places:
        return statement

    def placed(index: tree.Expression) -> tree.Expression:
        if isinstance(index, tree.Name):
            read = tree.Read(index.span, index, None, ())
            return read if index.name in places else index
        return outside(index) if isinstance(index, tree.Read) else with_parts(index, placed)

    def outside(value: tree.Expression) -> tree.Expression:
        if isinstance(value, tree.Read):
            return replace(value, indices=tuple(map(placed, value.indices)))
        return with_parts(value, outside)

    return replace(statement, value=outside(statement.value))


def iterators_of(value: tree.Expression) -> set[str]:
    """The names that the expression uses as iterators, other than in a value or a condition."""
    found: set[str] = set()
    for part in _parts(value):
        if isinstance(part, tree.Read):
            found |= {name.name for name in index_names(part)}
        elif isinstance(part, tree.Reduction | tree.Defined | tree.Size):
            found |= {name.name for name in part.names}
        elif isinstance(part, tree.ScopeText):
            found |= {binding.name for binder in part.binders for binding in binder.bindings}
    return found


def tensors_in(value: tree.Expression, known: Set[str], iterators: Set[str]) -> frozenset[str]:
    """The names of tensors in values and conditions of an expression, in which `iterators` are
    iterators."""
    compared = {name.name for name in index_names(value)}
    for scope in (part for part in _parts(value) if isinstance(part, tree.ScopeText)):
        compared |= {name.name for name in index_names(scope.body)}
    names = names_in_values(value)
    return frozenset(names & known | (names - iterators - CONSTANTS - compared))


def names_in_values(value: tree.Expression) -> set[str]:
    """The names in values and conditions, whatever they are."""
    return {part.name for part in _parts(value) if isinstance(part, tree.Name)}


def resolved(value: tree.Expression, tensors: Set[str], iterators: Set[str]) -> tree.Expression:
    """The expression with a read for each name of a tensor, and a call for each of a constant and
    for each `//` and `%` of values, so that all other names are iterators'."""

    def of(part: tree.Expression) -> tree.Expression:
        match part:
            case tree.Name(span, name) if name in tensors:
                return tree.Read(span, part, None, ())
            case tree.Name(span, name) if name in CONSTANTS and name not in iterators:
                return tree.Call(span, name, ())
            case tree.Size():
                return part
            case tree.Reduction():
                return replace(part, body=of(part.body))
            case tree.Defined():
                return replace(part, args=tuple(map(of, part.args)))
            case tree.Read(_, tree.ScopeText() as scope):  # its indices stay
                inside = of(scope)
                assert isinstance(inside, tree.ScopeText)
                return replace(part, source=inside)
            case tree.Read():
                return part
        part = with_parts(part, of, into_scopes=True)
        return _rounded(part) if isinstance(part, tree.Product) else part

    return of(value)


def rounded(value: tree.Expression) -> tree.Expression:
    """The value with a call for each `//` and `%` of values; what is read stays as it is."""
    if isinstance(value, tree.Read):
        return value
    value = with_parts(value, rounded)
    return _rounded(value) if isinstance(value, tree.Product) else value


def _rounded(product: tree.Product) -> tree.Expression:
    """`a*b//c*d`, where a, b and c are not all indices, as `floor_divide(a*b, c)*d`."""
    span, factors = product.span, product.factors
    found: list[tuple[str, tree.Expression]] = []
    for operator, factor in factors:
        before = found[0][1] if len(found) == 1 else tree.Product(span, tuple(found))
        if operator in ROUNDING and not (is_index(factor) and is_row(before)):
            found = [("*", tree.Call(span, ROUNDING[operator], (before, factor)))]
        elif any(op in ROUNDING for op, _ in found) and not (
            operator == "*" and _is_number(factor)
        ):
            found = [("*", before), (operator, factor)]
        else:
            found.append((operator, factor))
    return found[0][1] if len(found) == 1 else tree.Product(span, tuple(found))


def _is_number(expression: tree.Expression) -> bool:
    return is_index(expression) and not any(iterator_names(expression))


def is_row(expression: tree.Expression) -> bool:
    """Whether it is built as an index is, with an iterator in it."""
    return is_index(expression) and any(iterator_names(expression))
