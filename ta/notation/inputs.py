"""Statements about the inputs: assumptions about their elements, and names of their sizes.

    assume A > 0, 0 <= B < 1           every element
    assume n == 100                    a size, if no tensor has this name
    A=("n", 64), where h in 0:n-2      names of sizes, with n=100 beside them

A size that is not given follows from an iterator that stands alone in a dimension of known size.
If the same iterator stands alone in a dimension with a name, the name has this size.  If its range
is `0:n`, n is this size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from einderive.ta.errors import shown
from einderive.ta.given.assumptions import both, bounds_of
from einderive.ta.ir.node import ANY, Bounds, Tensor
from einderive.ta.ir.node import Number as Value
from einderive.ta.notation.lowering import constant
from einderive.ta.notation.resolve import iterators_of
from einderive.ta.refusals import NotationError, misgiven, refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.tree_builder import bounded
from einderive.ta.syntax.walks import with_parts

Sizes: TypeAlias = Mapping[str, int]
Shape: TypeAlias = Sequence[int | str]
Assumed: TypeAlias = dict[str, tuple[Bounds, tree.Expression]]
"""The bounds of each input's elements, and the comparison that states them."""


def bounds_and_sizes(
    assumptions: Sequence[tree.Expression],
    statements: Sequence[tree.Statement],
    shapes: Mapping[str, Shape],
    given: Sizes,
) -> tuple[Assumed, dict[str, int]]:
    """The bounds of each input with their places, and the values of all names of sizes."""
    found = _assumed(assumptions, {statement.target.name for statement in statements})
    read = {
        part.source.name
        for statement in statements
        for value in statement.parts
        for part in tree.scalars(value, into_scopes=True)
        if isinstance(part, tree.Read) and isinstance(part.source, tree.Name)
    }
    sizes = dict(given)
    for name, (bounds, stated) in tuple(found.items()):
        value = bounds.least
        if name in read or name in shapes or value != bounds.greatest:
            continue
        if not isinstance(value, Fraction) or value.denominator != 1 or value < 0:
            continue
        if sizes.setdefault(name, value.numerator) != value:
            raise refused(
                "size-given-twice", stated.span, name=name, given=sizes[name], value=value
            )
        del found[name]
    for name in read & sizes.keys():
        raise misgiven("shape-of-others", name=name, given=sizes[name])
    return found, found_sizes(statements, shapes, sizes)


def refuse_unread(assumed: Assumed, inputs: Mapping[str, Tensor]) -> None:
    """Refuse assumptions about a name that is no input, and about the order of complex numbers."""
    for name, (bounds, stated) in assumed.items():
        if name not in inputs:
            none = "" if inputs else "leave it out; the formula has no inputs"
            raise refused("assumed-unread", stated.span, name=name, known=inputs, instead=none)
        if inputs[name].dtype.startswith("complex") and bounds != Bounds(nonzero=True):
            raise refused("assumed-order-of-complex", stated.span, name=name)


def with_numbers(shapes: Mapping[str, Shape], sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The shapes with numbers in the place of the sizes' names."""
    for name, shape in shapes.items():
        for size in shape:
            if isinstance(size, str) and size not in sizes:
                raise misgiven("shape-of-unknown-size", size=size, name=name, shape=shown(shape))
    return {
        name: tuple(sizes[size] if isinstance(size, str) else size for size in shape)
        for name, shape in shapes.items()
    }


def _assumed(assumptions: Sequence[tree.Expression], targets: Set[str]) -> Assumed:
    """The bounds of each input, with their places."""
    found: Assumed = {}
    for each in assumptions:
        if not isinstance(each, tree.Comparison):
            raise refused("assumption-no-comparison", each.span)
        try:
            name, bounds = bounds_of([_operand(o) for o in each.operands], each.operators)
            before, _ = found.get(name, (ANY, each))
            found[name] = both(before, bounds), each
        except ValueError as error:
            raise refused("assumption-impossible", each.span, problem=error) from None
        if name in targets:
            raise refused("assumed-result", each.span, name=name)
    return found


def _operand(value: tree.Expression) -> str | Value:
    """The name or the number in an assumption."""
    if isinstance(value, tree.Name):
        return value.name
    number = constant(value)
    if number is None:
        raise refused("assumption-of-others", value.span)
    return number


def sized(statement: tree.Statement, sizes: Sizes) -> tree.Statement:
    """The statement with the numbers in the place of the sizes' names."""
    if not sizes:
        return statement

    def of(part: tree.Expression) -> tree.Expression:
        match part:
            case tree.Name(span, name) if name in sizes:
                return tree.Number(span, Fraction(sizes[name]))
            case tree.Reduction(_, _, names) | tree.Defined(_, _, names) | tree.Size(_, names):
                for each in names:
                    if each.name in sizes:
                        raise _no_iterator(each)
            case tree.ScopeText():
                binders = tuple(
                    replace(b, bindings=tuple(bounded(each, sizes) for each in b.bindings))
                    for b in part.binders
                )
                part = replace(part, binders=binders)
        return with_parts(part, of, into_scopes=True)

    for index in statement.indices:
        if isinstance(index, tree.Name) and index.name in sizes:
            raise _no_iterator(index)
    clause = tuple(bounded(binding, sizes) for binding in statement.clause)
    indices = tuple(map(of, statement.indices))
    return replace(statement, value=of(statement.value), indices=indices, clause=clause)


def _no_iterator(name: tree.Name) -> NotationError:
    return refused("size-as-iterator", name.span, name=name.name)


def names_of_sizes(statements: Sequence[tree.Statement]) -> set[str]:
    """The names that may be those of sizes: in the ends of ranges, and in indices."""
    bindings = [binding for each in statements for binding in each.clause]
    found = set[str]()
    for value in (value for each in statements for value in each.parts):
        found |= iterators_of(value)
        for part in tree.scalars(value, into_scopes=True):
            if isinstance(part, tree.ScopeText):
                bindings += [binding for binder in part.binders for binding in binder.bindings]
    return found | {name.name for binding in bindings for name in binding.names}


def found_sizes(
    statements: Sequence[tree.Statement], shapes: Mapping[str, Shape], given: Sizes
) -> dict[str, int]:
    """The sizes that are given, and those that follow from dimensions in which an iterator stands
    alone; RangeError where they contradict each other."""
    found = dict(given)
    told: dict[str, str] = {}
    groups = [group for each in statements for group in _alike(each, shapes).values()]
    changed = True
    while changed:
        changed = False
        for group in groups:
            numbers = [(found.get(s, s) if isinstance(s, str) else s, at) for s, at in group]
            known = [(number, at) for number, at in numbers if isinstance(number, int)]
            names = [s for s, _ in group if isinstance(s, str) and s not in given]
            for name in names:
                for number, at in known:
                    if name not in found:
                        found[name], told[name], changed = number, at, True
                    elif found[name] != number:
                        places = f"{told[name]}, {at}"
                        one, two = found[name], number
                        raise misgiven("two-sizes", name=name, one=one, other=two, places=places)
    return found


def _alike(
    statement: tree.Statement, shapes: Mapping[str, Shape]
) -> dict[str, list[tuple[int | str, str]]]:
    """The possible sizes of each iterator's range, with their places."""
    found: dict[str, list[tuple[int | str, str]]] = {}
    for read, dimension, index in _dimensions(statement):
        assert isinstance(read.source, tree.Name)
        name = read.source.name
        shape = shapes.get(name, ())
        if len(shape) == len(read.indices):
            size = shape[dimension]
            at = f"dimension {dimension + 1} of {name} is {size}"
            found.setdefault(index.name, []).append((size, at))
    for binding in statement.clause:
        if binding.known is None and isinstance(binding.ends[0], tree.Number):
            low, high = binding.ends
            if isinstance(high, tree.Name) and isinstance(low, tree.Number) and low.value == 0:
                at = f"{binding.name} in 0:{high.name}"
                found.setdefault(binding.name, []).append((high.name, at))
    return found


def _dimensions(statement: tree.Statement) -> Iterator[tuple[tree.Read, int, tree.Name]]:
    """The reads of tensors with the iterators that stand alone in a dimension."""
    for part in (part for value in statement.parts for part in tree.scalars(value)):
        if isinstance(part, tree.Read) and isinstance(part.source, tree.Name):
            for dimension, index in enumerate(part.indices):
                if isinstance(index, tree.Name):
                    yield part, dimension, index
