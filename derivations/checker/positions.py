"""Iterators as values, in formal sums: integer multiples of rows, and integers, are one row.

    INDEX[i] - 2*INDEX[j] + 3   =   INDEX[i-2*j+3]

The constructors of expressions write them so, and so does this, where sums come together.
"""

from __future__ import annotations

from fractions import Fraction

from einderive.derivations.checker.families import Families
from einderive.derivations.checker.formal import ONE, Sum, Term
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.positions import INDEX, is_small


def value(row: Row, families: Families) -> Sum:
    """A row as a value."""
    if affine.iterators(row):
        return (Term(ONE, atoms=(families.read(INDEX, (row,)),)),)
    return (Term(Fraction(row.const)),) if row.const else ()


def merged(terms: Sum, families: Families) -> Sum:
    """The terms, those that are rows made one."""
    total, others, rows = affine.ZERO, list[Term](), 0
    for term in terms:
        row = _as_row(term, families)
        if row is None:
            others.append(term)
        else:
            total, rows = affine.add(total, row), rows + bool(term.atoms)
    return (*others, *value(total, families)) if rows and is_small(total) else terms


def _as_row(term: Term, families: Families) -> Row | None:
    """The row that the term is."""
    if term.bound or term.conditions or term.coefficient.denominator != 1:
        return None
    if not term.atoms:
        return affine.constant(int(term.coefficient))
    (atom, *more) = term.atoms
    if more or families.leaves[atom.leaf].content is not INDEX:
        return None
    return affine.scale(atom.rows[0], int(term.coefficient))
