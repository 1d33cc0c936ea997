"""Formal sums compared by integer sets (isl).

For every x, two sums are equal for all entries of their leaves if each product of leaves occurs
equally often on both sides at the same indices:

    sum of c_t * [the tuple (x, f_1, ..., f_k) is taken by some y in D_t(x)]  =  0   for every tuple

where the tuples of one term are taken once each, i.e. y -> (x, f(x,y)) is injective on its domain.
Where it is not, further coordinates ("tags", functions of x and y) may tell the y apart: equal
counts with the tags are equal counts without them, whatever the tags are.  Else the sum over a
variable of a short range is written out: each of its terms has fewer points.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod

import islpy as isl

from einderive.derivations.checker.formal import (
    Atom,
    NotShown,
    Term,
    undecided,
    variables_of,
    with_rows,
    within,
)
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition

MOST_OPERATIONS = 20_000_000
"""isl's work on one comparison is limited to this many of its operations."""
MOST_PERMUTATIONS = 24
MOST_SETS = 96
"""More terms with the same leaves than this, orders of equal leaves included, are not compared."""

Ranges = Mapping[int, Range]
LeafRanges = Callable[[int], tuple[Range, ...] | None]
Tags = Callable[[Term], tuple[Row, ...]]


class _Thread(threading.local):
    """Each thread has an instance of its own."""

    def __init__(self) -> None:
        self.context = isl.Context()
        self.context.set_max_operations(MOST_OPERATIONS)


_thread = _Thread()


def context() -> isl.Context:
    """This thread's context."""
    return _thread.context


def begin() -> None:
    """Another comparison: its operations are counted from 0."""
    _thread.context.reset_operations()


def possible(conditions: Sequence[Condition], ranges: Ranges) -> bool:
    """Whether the conditions hold together at some point."""
    names = sorted(set().union(*(affine.iterators(c.row) for c in conditions)))
    held = [*_sides({name: ranges[name] for name in names}), *map(_condition, conditions)]
    try:
        return not isl.Set(f"{{ [{_list(names)}] : {_all(held)} }}", context=context()).is_empty()
    except isl.Error:
        raise NotShown("too large for integer sets") from None


class Group:
    """The terms of a difference that are products of the same leaves, as signed sets of tuples."""

    def __init__(
        self, terms: Sequence[Term], free: Sequence[int], ranges: Ranges, leaf_ranges: LeafRanges
    ) -> None:
        self.terms, self.free, self.ranges = terms, tuple(free), ranges
        self.leaf_ranges = leaf_ranges
        self.atoms = [tuple(sorted(term.atoms)) for term in terms]

    def vanishes(self, tags: Sequence[Tags] = ()) -> bool:
        """Whether the signed sum of the terms is 0.  NotShown if a term takes a tuple several times
        and no tags tell its points apart."""
        for tag in (_no_tags, *tags):
            rows = [tag(term) for term in self.terms]
            if len(set(map(len, rows))) > 1:
                continue
            maps = [
                self._map(term, atoms, row)
                for term, atoms, row in zip(self.terms, self.atoms, rows, strict=True)
            ]
            if all(found.is_injective() for found in maps) and self._counts_agree(maps, rows):
                return True
        apart, images = self._written_out()
        alone = Group(apart, self.free, self.ranges, self.leaf_ranges)
        return alone._counts_agree(images, [()] * len(apart))

    def _written_out(self) -> tuple[list[Term], list[isl.Map]]:
        """Terms of the same sum that take no tuple twice, and their maps; NotShown where they are
        too many."""
        found: list[Term] = []
        maps: list[isl.Map] = []
        pending = list(self.terms)
        while pending:
            term = pending.pop()
            image = self._map(term, sorted(term.atoms))
            if image.is_injective():
                found.append(term)
                maps.append(image)
                continue
            (variable, side), *rest = sorted(term.bound, key=lambda bound: bound[1].extent)
            if len(found) + len(pending) + side.extent > MOST_SETS:
                raise NotShown("a product of the same entries occurs several times in one sum")
            pending += [_at(term, rest, variable, value) for value in range(*side)]
        return found, maps

    def agrees_as_set(self) -> bool:
        """Whether the positive terms together take the same tuples as the negative ones."""
        sides: list[isl.Set | None] = [None, None]
        for term, atoms in zip(self.terms, self.atoms, strict=True):
            image, side = self._map(term, atoms).range(), int(term.coefficient < 0)
            known = sides[side]
            sides[side] = image if known is None else known.union(image)
        left, right = sides
        if left is None or right is None:
            return all(side is None or side.is_empty() for side in sides)
        return bool(left.is_equal(right))

    def _counts_agree(self, maps: Sequence[isl.Map], tags: Sequence[tuple[Row, ...]]) -> bool:
        coefficients = [term.coefficient for term in self.terms]
        if _cancel([found.range() for found in maps], coefficients):
            return True
        # a product does not depend on the order of its equal leaves
        orders = [self._reordered(o, len(tags[0])) for o in _orders(self.atoms[0])]
        images = [found.range().apply(order) for found in maps for order in orders]
        return _cancel(images, [c for c in coefficients for _ in orders])

    def _reordered(self, order: Sequence[int], tags: int) -> isl.Map:
        """Tuples with the indices of the atoms in another order."""
        place, taken = len(self.free), []
        for atom in self.atoms[0]:
            taken.append(range(place, place + len(atom.rows)))
            place += len(atom.rows)
        kept = (*range(len(self.free)), *(n for i in order for n in taken[i]))
        image = _list((*kept, *range(place, place + tags)))
        return isl.Map(f"{{ [{_list(range(place + tags))}] -> [{image}] }}", context=context())

    def _map(self, term: Term, atoms: Sequence[Atom], tags: tuple[Row, ...] = ()) -> isl.Map:
        """y -> (x, f(x,y), tags) on the domain of the term."""
        names = [*self.free, *(variable for variable, _ in term.bound)]
        sides = {v: self.ranges[v] for v in self.free if v in self.ranges} | dict(term.bound)
        held = [*_sides(sides), *map(_condition, term.conditions)]
        for atom in atoms:
            ranges = self.leaf_ranges(atom.leaf)
            if ranges is not None:
                held += map(_condition, undecided(within(atom.rows, ranges), sides))
        rows = [affine.iterator(v) for v in self.free]
        rows += [row for atom in atoms for row in atom.rows]
        rows += tags
        image = ", ".join(map(_text, rows))
        text = f"{{ [{_list(names)}] -> [{image}] : {_all(held)} }}"
        return isl.Map(text, context=context())


def _cancel(images: Sequence[isl.Set], coefficients: Sequence[Fraction]) -> bool:
    """Whether, at every point, the coefficients of the sets that hold it add up to 0."""
    if len(images) > MOST_SETS:
        raise NotShown("too large: many terms have the same factors")
    if len(images) == 2 and coefficients[0] + coefficients[1] == 0:
        return bool(images[0].is_equal(images[1]))
    pieces: list[tuple[isl.Set, Fraction]] = []
    for image, coefficient in zip(images, coefficients, strict=True):
        rest, kept = image.coalesce(), []
        for piece, other in pieces:
            both = piece.intersect(rest)
            if both.is_empty():
                kept.append((piece, other))
                continue
            if coefficient + other:
                kept.append((both, coefficient + other))
            outside = piece.subtract(both)
            if not outside.is_empty():
                kept.append((outside.coalesce(), other))
            rest = rest.subtract(both)
        if not rest.is_empty():
            kept.append((rest.coalesce(), coefficient))
        pieces = kept
    return not pieces


def _no_tags(term: Term) -> tuple[Row, ...]:
    return ()


def _at(term: Term, bound: Sequence[tuple[int, Range]], variable: int, value: int) -> Term:
    """The term with this value for the variable, over the other bound variables."""
    rows = {v: affine.iterator(v) for v in variables_of(term)} | {variable: affine.constant(value)}
    return with_rows(term, tuple(bound), lambda row: affine.substitute(row, rows))


def _orders(atoms: Sequence[Atom]) -> list[tuple[int, ...]]:
    """The orders of the atoms that differ in the places of equal leaves only."""
    groups: dict[int, list[int]] = {}
    for place, atom in enumerate(atoms):
        groups.setdefault(atom.leaf, []).append(place)
    if prod(factorial(len(group)) for group in groups.values()) > MOST_PERMUTATIONS:
        raise NotShown("too large: many equal factors")
    found = []
    for choice in product(*(permutations(group) for group in groups.values())):
        order = list(range(len(atoms)))
        for group, chosen in zip(groups.values(), choice, strict=True):
            for place, taken in zip(group, chosen, strict=True):
                order[place] = taken
        found.append(tuple(order))
    return found


def _name(variable: int) -> str:
    return f"v{variable}"


def _list(variables: Sequence[int]) -> str:
    return ", ".join(map(_name, variables))


def _text(row: Row) -> str:
    """The row in isl's notation."""
    parts = [str(row.const)]
    parts += [f"{a}*{_name(i)}" for i, a in row.terms]
    parts += [f"{b}*floor(({_text(inner)})/{n})" for inner, n, b in row.floors]
    return " + ".join(parts)


def _condition(condition: Condition) -> str:
    relation = "=" if condition.relation == "==" else condition.relation
    return f"{_text(condition.row)} {relation} 0"


def _sides(ranges: Ranges) -> list[str]:
    return [f"{side.lo} <= {_name(v)} < {side.hi}" for v, side in ranges.items()]


def _all(conditions: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(conditions)) or "true"
