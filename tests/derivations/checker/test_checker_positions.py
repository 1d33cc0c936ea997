"""Iterators as values in formal sums: what becomes one row, and what is none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from einderive.derivations.checker.compare import not_equal
from einderive.derivations.checker.families import Families
from einderive.derivations.checker.formal import ONE, Atom, Term
from einderive.derivations.checker.positions import merged
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition, Scope
from einderive.ta.ir.positions import INDEX, MOST
from einderive.ta.notation.parse import parse

FAMILIES = Families([Range(0, 4), Range(0, 5)])
ROW, COLUMN, BOUND = (affine.iterator(place) for place in (0, 1, 7))
ENTRY = Term(ONE, atoms=(FAMILIES.read(expr.tensor("A", (4,)), (ROW,)),))


def index(row: Row) -> Atom:
    return FAMILIES.read(INDEX, (row,))


def test_rows_and_integers_become_one_row() -> None:
    terms = (
        Term(Fraction(2), atoms=(index(ROW),)),
        ENTRY,
        Term(Fraction(3)),
        Term(Fraction(-1), atoms=(index(COLUMN),)),
    )
    whole = affine.shift(affine.add(affine.scale(ROW, 2), COLUMN, -1), 3)
    assert merged(terms, FAMILIES) == (ENTRY, Term(ONE, atoms=(index(whole),)))


def test_rows_that_cancel_leave_an_integer_or_nothing() -> None:
    both = (Term(ONE, atoms=(index(ROW),)), Term(-ONE, atoms=(index(ROW),)))
    assert merged((*both, Term(Fraction(5))), FAMILIES) == (Term(Fraction(5)),)
    assert merged(both, FAMILIES) == ()


def test_integers_alone_and_large_rows_stay_as_they_are() -> None:
    for terms in (
        (Term(Fraction(2)), ENTRY, Term(Fraction(3))),
        (Term(Fraction(2 * MOST), atoms=(index(ROW),)), ENTRY),
    ):
        assert merged(terms, FAMILIES) == terms


NO_ROWS = {
    "a sum": Term(ONE, bound=((7, Range(0, 3)),), atoms=(index(BOUND),)),
    "under a condition": Term(ONE, conditions=(Condition(">=", ROW),), atoms=(index(COLUMN),)),
    "a fraction": Term(Fraction(1, 2), atoms=(index(COLUMN),)),
    "a product": Term(ONE, atoms=(index(ROW), index(COLUMN))),
    "an entry": ENTRY,
}


@pytest.mark.parametrize("term", NO_ROWS.values(), ids=NO_ROWS)
def test_what_is_no_row(term: Term) -> None:
    row = Term(ONE, atoms=(index(ROW),))
    assert merged((row, term), FAMILIES) == (term, row)


def scope_of(text: str) -> Scope:
    (root,) = parse(text, {}, ranges={"i": (0, 4), "j": (0, 5)}).roots()
    return root


@pytest.mark.parametrize("around", ["{}", "tanh({})"])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("i*j + j", "i + j"),
        ("i*j + i + j", "2*i + j"),
        ("i/2 + j", "j + 0*i"),
        ("where(i < 2, j, 0) + i", "i + j"),
    ],
)
def test_sums_of_iterators_are_told_apart(left: str, right: str, around: str) -> None:
    one, other = (scope_of(f"Y[i,j] = {around.format(side)}") for side in (left, right))
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None
