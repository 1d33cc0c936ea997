"""Formal sums: scalar expressions as polynomials in the entries of their leaves.

    value(x)  =  sum over terms t of   c_t * S[y in D_t(x)] l_1[f_1(x,y)] * ... * l_k[f_k(x,y)]

`x` are the free variables, `y` a term's bound variables, `c_t` a rational number, `f_i` index rows.
A leaf is an input tensor, a nested scope taken as it is, a function of expressions, or an infinity.
Outside of a tensor's or a scope's ranges an atom is 0, so the reads of a term bound its domain D_t.

Variables are numbers, each used once in all of a comparison.  Rows are `ir.affine` rows over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product as cartesian
from typing import Any, NamedTuple, TypeAlias

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition

MOST_TERMS = 512
"""A product is not compared if it multiplies out to more terms."""

ONE = Fraction(1)
POSITIVE, NEGATIVE = 0, 1
"""The leaves that are the two infinities."""


class NotShown(Exception):
    """The argument does not decide the question.  The text is the reason."""


class Atom(NamedTuple):
    """The leaf's entry at the rows.  It is 0 where a row leaves its range in the leaf's `ranges`,
    and finite unless it is `unbounded`."""

    leaf: int
    rows: tuple[Row, ...]
    unbounded: bool = False


class Term(NamedTuple):
    """`coefficient * S[bound, where the conditions hold] product of atoms`."""

    coefficient: Fraction
    bound: tuple[tuple[int, Range], ...] = ()
    conditions: tuple[Condition, ...] = ()
    atoms: tuple[Atom, ...] = ()

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(sorted(atom.leaf for atom in self.atoms))

    @property
    def infinite(self) -> bool:
        """Whether a factor is the infinity itself.  The coefficient is 1 then."""
        return any(atom.leaf in (POSITIVE, NEGATIVE) for atom in self.atoms)

    @property
    def unbounded(self) -> bool:
        """Whether the term may be infinite or have no value.  Then t - t need not be 0, nor t*(a +
        b) be t*a + t*b."""
        return any(atom.unbounded for atom in self.atoms)


Sum: TypeAlias = tuple[Term, ...]


class Leaf(NamedTuple):
    """A leaf of a comparison.  `content` tells leaves apart; `ranges` are those of a tensor or a
    scope, and None for other leaves."""

    content: Any
    ranges: tuple[Range, ...] | None


def _infinity(negative: bool) -> Atom:
    return Atom(NEGATIVE if negative else POSITIVE, (), True)


def scaled(terms: Iterable[Term], factor: Fraction) -> Sum:
    """`factor * terms` for a factor other than 0.  An infinity keeps only the factor's sign."""
    return tuple(_scaled(term, factor) for term in terms)


def _scaled(term: Term, factor: Fraction) -> Term:
    if not term.infinite:
        return term._replace(coefficient=term.coefficient * factor)
    if factor > 0:
        return term
    at = next(i for i, atom in enumerate(term.atoms) if atom.leaf in (POSITIVE, NEGATIVE))
    turned = _infinity(term.atoms[at].leaf == POSITIVE)
    return term._replace(atoms=(*term.atoms[:at], turned, *term.atoms[at + 1 :]))


def without(term: Term, atoms: Iterable[Atom]) -> Term:
    """The term without these factors."""
    kept = list(term.atoms)
    for atom in atoms:
        kept.remove(atom)
    return term._replace(atoms=tuple(kept))


def product(factors: Sequence[Sum]) -> Sum:
    """The product by the distributive law.  The factors have no bound variable in common."""
    count = 1
    for factor in factors:
        count *= len(factor)
    if count > MOST_TERMS:
        raise NotShown(f"too large: a product of sums has {count} terms")
    return tuple(_joined(choice) for choice in cartesian(*factors))


def _joined(factors: Sequence[Term]) -> Term:
    coefficient = ONE
    bound: list[tuple[int, Range]] = []
    conditions: list[Condition] = []
    atoms: list[Atom] = []
    for term in factors:
        coefficient *= term.coefficient
        bound += term.bound
        conditions += term.conditions
        atoms += term.atoms
    infinite = [atom for atom in atoms if atom.leaf in (POSITIVE, NEGATIVE)]
    if infinite:
        negative = (len([a for a in infinite if a.leaf == NEGATIVE]) + (coefficient < 0)) % 2
        atoms = [atom for atom in atoms if atom not in infinite]
        atoms.append(_infinity(bool(negative)))
        coefficient = ONE
    return Term(coefficient, tuple(bound), tuple(conditions), tuple(atoms))


def bound_by(terms: Sum, variables: Sequence[tuple[int, Range]]) -> Sum:
    """`S[variables] terms`.  A variable that a term does not use multiplies the term by its extent,
    which is not 0."""
    return tuple(_bound_by(term, variables) for term in terms)


def _bound_by(term: Term, variables: Sequence[tuple[int, Range]]) -> Term:
    used = variables_of(term)
    kept = tuple((variable, side) for variable, side in variables if variable in used)
    idle = 1
    for variable, side in variables:
        if variable not in used and not term.infinite:
            idle *= side.extent
    return term._replace(coefficient=term.coefficient * idle, bound=kept + term.bound)


def variables_of(term: Term) -> set[int]:
    """The variables in the rows of a term."""
    found: set[int] = set()
    for row in rows_of(term):
        found |= affine.iterators(row)
    return found


def rows_of(term: Term) -> list[Row]:
    rows = [row for atom in term.atoms for row in atom.rows]
    return rows + [condition.row for condition in term.conditions]


def with_rows(
    term: Term, bound: tuple[tuple[int, Range], ...], change: Callable[[Row], Row]
) -> Term:
    """The term with other bound variables and changed rows, in the order of `rows_of`."""
    atoms = tuple(atom._replace(rows=tuple(map(change, atom.rows))) for atom in term.atoms)
    conditions = tuple(Condition(c.relation, change(c.row)) for c in term.conditions)
    return Term(term.coefficient, bound, conditions, atoms)


def negations(condition: Condition) -> tuple[Condition, ...]:
    """Conditions that exclude each other and of which exactly one holds if the given condition does
    not."""
    below = Condition(">=", affine.shift(affine.scale(condition.row, -1), -1))
    if condition.relation == ">=":
        return (below,)
    return (Condition(">=", affine.shift(condition.row, -1)), below)


def complement(conditions: Sequence[Condition]) -> tuple[tuple[Condition, ...], ...]:
    """Groups of conditions that exclude each other.  One group holds if not all of the given
    conditions hold."""
    return tuple(
        (*conditions[:k], negated)
        for k, condition in enumerate(conditions)
        for negated in negations(condition)
    )


def within(rows: Sequence[Row], ranges: Sequence[Range]) -> tuple[Condition, ...]:
    """The conditions that every row lies in its range."""
    return tuple(
        Condition(">=", room)
        for row, bound in zip(rows, ranges, strict=True)
        for room in affine.room(row, bound)
    )


def undecided(
    conditions: Iterable[Condition], ranges: Mapping[int, Range]
) -> tuple[Condition, ...]:
    """The conditions, each once, that intervals do not show to hold for all values in the ranges.
    A condition on a variable without a range stays."""
    return tuple(
        condition
        for condition in dict.fromkeys(conditions)
        if condition.relation == "=="
        or not affine.iterators(condition.row) <= set(ranges)
        or affine.bounds(condition.row, ranges)[0] < 0
    )


def used_by(value: Sum, conditions: Iterable[Condition]) -> set[int]:
    """The variables that a value depends on where the conditions hold."""
    used = set().union(*map(variables_of, value))
    return used.union(*(affine.iterators(c.row) for c in conditions))
