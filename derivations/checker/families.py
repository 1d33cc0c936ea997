"""The leaves of a comparison, and the functions among them.

A function's operand depends on where it stands through the indices of its reads alone:

    exp(2*A[x+1] - S[k:0:8] B[x//2,k])  =  F(x+1, x//2)
    with  F(p,q) = exp(2*A[p] - S[k:0:8] B[q,k])

so it is an entry of the leaf F.  Two operands give one leaf where their F are the same formal sums,
as they are written or as integer sets show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from einderive.derivations.checker import forms, sets
from einderive.derivations.checker.formal import (
    NEGATIVE,
    POSITIVE,
    Atom,
    Leaf,
    NotShown,
    Sum,
    Term,
    variables_of,
    with_rows,
)
from einderive.derivations.checker.infinities import unbounded
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Source
from einderive.ta.ir.positions import INDEX

MOST_COMPARED = 1000
"""At most this many atoms of operands are compared by integer sets, which takes some milliseconds
each."""


SEPARATE = 16
"""At most this many rows of an operand become separate parameters, so that operands which are read
at different places are one leaf.  Further equal rows share a parameter.  Otherwise functions of
functions would have twice as many parameters at each level."""


class Family(NamedTuple):
    """`name(operand)` over the variables `free`."""

    name: str
    operand: Sum
    free: tuple[int, ...]


class Families:
    """The leaves of one comparison, numbered, and the numbers of its variables."""

    def __init__(self, loops: Sequence[Range]) -> None:
        self.leaves = [Leaf("inf", None), Leaf("-inf", None)]
        self.zeros: set[int] = set()
        """The leaves that are the value 0, as it may stand among the values of a prod."""
        self.box: dict[int, Range] = dict(enumerate(loops))
        self._numbers = count(len(loops))
        self._compared = 0
        self._sources: dict[Source, int] = {}
        self._written: dict[Any, int] = {}
        self._families: list[tuple[Family, int]] = []
        self._placed: list[tuple[Family, Atom]] = []

    def fresh(self) -> int:
        """A variable that occurs nowhere else."""
        return next(self._numbers)

    def source(self, source: Source) -> int:
        """The leaf of a tensor or of a scope as it is."""
        if source not in self._sources:
            self._sources[source] = len(self.leaves)
            self.leaves.append(Leaf(source, None if source is INDEX else source.ranges))
        return self._sources[source]

    def read(self, source: Source, rows: tuple[Row, ...]) -> Atom:
        """The entry of the source at the rows."""
        return Atom(self.source(source), rows, may_be_infinite(source))

    def atom(self, name: str, operand: Sum) -> Atom:
        """`name(operand)` as an entry of a leaf."""
        infinite = unbounded(name, operand)
        family, rows = self._abstract(name, operand)
        key = _written(family)
        leaf = self._written.get(key) or self._leaf_of(family)
        here = Family(name, operand, tuple(self.box))
        local = all(v in self.box for v in _free(operand))
        if leaf is None and local:
            for known, atom in self._placed:
                if self._same(known, here, self.box):
                    return atom._replace(unbounded=infinite)
        if leaf is None:
            leaf = len(self.leaves)
            self.leaves.append(Leaf(family, None))
            self._families.append((family, leaf))
            if name == "value" and not operand:
                self.zeros.add(leaf)
        self._written[key] = leaf
        atom = Atom(leaf, rows, infinite)
        if local:
            self._placed.append((here, atom))
        return atom

    def is_read(self, atom: Atom) -> bool:
        """Whether the atom is an entry of an input, or of a scope as it is."""
        return not isinstance(self.leaves[atom.leaf].content, Family | str)

    def is_exp(self, atom: Atom) -> bool:
        """Whether the atom is exp of a finite number, which is never 0."""
        content = self.leaves[atom.leaf].content
        exp = isinstance(content, Family) and content.name == "exp"
        return exp and not any(term.unbounded for term in content.operand)

    def is_truth(self, value: Sum) -> bool:
        """Whether the value is that of a comparison, 1 or 0."""
        if len(value) != 1 or value[0] != Term(value[0].coefficient, atoms=value[0].atoms[:1]):
            return False
        (term,) = value
        content = self.leaves[term.atoms[0].leaf].content if term.atoms else None
        known = FUNCTIONS.get(content.name) if isinstance(content, Family) else None
        return term.coefficient == 1 and known is not None and known.truth

    def _leaf_of(self, family: Family) -> int | None:
        return next((n for known, n in self._families if self._same(known, family, {})), None)

    def _abstract(self, name: str, operand: Sum) -> tuple[Family, tuple[Row, ...]]:
        """The family, over variables 0, 1, ..., and the rows that stand for these."""
        rows: list[Row] = []
        terms = sorted(forms.gathered(operand), key=_rank)
        lifted = [_Lifting(term, rows).term() for term in terms]
        moved = tuple(_renumbered(term, len(rows)) for term in lifted)
        return Family(name, moved, tuple(range(len(rows)))), tuple(rows)

    def _same(self, left: Family, right: Family, box: Mapping[int, Range]) -> bool:
        if left.name != right.name or left.free != right.free:
            return False
        self._compared += 1 + sum(len(term.atoms) for term in left.operand)
        if self._compared > MOST_COMPARED:
            raise NotShown("too large: many different functions")
        reducer = left.name if left.name in REDUCERS else "sum"
        try:
            return self.agree(left.operand, right.operand, left.free, box, reducer=reducer)
        except NotShown:
            return False

    def agree(
        self,
        left: Sum,
        right: Sum,
        free: Sequence[int],
        box: Mapping[int, Range],
        tags: Sequence[sets.Tags] = (),
        reducer: str = "sum",
    ) -> bool:
        """Whether the two sums, or the results of another reducer over their terms, are equal for
        all values of the free variables (within the box, if it holds them).

        Raises NotShown if the argument does not decide it.  Products that may be infinite have to
        be the same on both sides, separately for those that are added and those that are
        subtracted.
        """
        apart = {term.leaves for term in (*left, *right) if term.unbounded}
        groups: dict[tuple[tuple[int, ...], bool], list[Term]] = {}
        for side, sign in ((left, 1), (right, -1)):
            for term in side:
                subtracted = term.leaves in apart and term.coefficient < 0
                signed = term._replace(coefficient=sign * term.coefficient)
                groups.setdefault((term.leaves, subtracted), []).append(signed)
        for (leaves, _), terms in sorted(groups.items(), key=lambda item: len(item[1])):
            once = self._idempotent(leaves, reducer)
            if not once and not terms[0].infinite:
                terms = forms.cancelled(terms)
            group = sets.Group(terms, free, box, self._ranges)
            if not (group.agrees_as_set() if once else group.vanishes(tags)):
                return False
        return True

    def _idempotent(self, leaves: tuple[int, ...], reducer: str) -> bool:
        """Whether the number of occurrences of such a term has no influence.  An infinity may be
        added to itself, and a product may hold 0 or inf again; -inf times itself is inf."""
        if reducer == "sum":
            return POSITIVE in leaves or NEGATIVE in leaves
        if reducer == "prod":
            return leaves == (POSITIVE,) or not self.zeros.isdisjoint(leaves)
        return True

    def _ranges(self, leaf: int) -> tuple[Range, ...] | None:
        return self.leaves[leaf].ranges


class _Lifting:
    """A term of an operand: its rows' parts in free variables become parameters -1, -2, ..."""

    def __init__(self, term: Term, rows: list[Row]) -> None:
        self.parameters = rows
        self.source = term
        self.bound = {variable for variable, _ in term.bound}

    def term(self) -> Term:
        return with_rows(forms.in_order(self.source), self.source.bound, self._row)

    def _row(self, row: Row) -> Row:
        own = [(i, a) for i, a in row.terms if i in self.bound]
        free = [(i, a) for i, a in row.terms if i not in self.bound]
        own_floors, free_floors = [], []
        for inner, n, b in row.floors:
            if affine.iterators(inner).isdisjoint(self.bound):
                free_floors.append((inner, n, b))
            else:
                own_floors.append((self._row(inner), n, b))
        if own and not free and not free_floors:
            return Row(row.const, tuple(own), tuple(sorted(own_floors)))
        placed = Row(row.const, tuple(free), tuple(free_floors))
        place = len(self.parameters)
        if place < SEPARATE or placed not in self.parameters:
            self.parameters.append(placed)
        else:
            place = self.parameters.index(placed)
        return Row(0, tuple(sorted([(-1 - place, 1), *own])), tuple(sorted(own_floors)))


def _renumbered(term: Term, parameters: int) -> Term:
    """Parameter -k is variable k-1, and the bound variables follow all parameters, in the order in
    which they occur."""
    names: dict[int, int] = {}
    for variable in (*forms.variables_in_order(term), *(variable for variable, _ in term.bound)):
        names.setdefault(variable, parameters + len(names))
    places = names | {-k: k - 1 for k in range(1, parameters + 1)}
    bound = tuple(sorted((names[variable], side) for variable, side in term.bound))
    return with_rows(term, bound, lambda row: affine.rename(row, places))


def _written(family: Family) -> Any:
    return (family.name, len(family.free), family.operand)


def _free(operand: Sum) -> set[int]:
    return {
        variable
        for term in operand
        for variable in variables_of(term) - {bound for bound, _ in term.bound}
    }


def _rank(term: Term) -> tuple[tuple[int, ...], int, Fraction]:
    """An order of terms that does not depend on the names of variables."""
    return term.leaves, len(term.bound), term.coefficient
