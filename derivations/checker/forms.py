"""Terms up to the names of their bound variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einderive.derivations.checker.formal import Term, rows_of, with_rows
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row


def gathered(terms: Sequence[Term]) -> list[Term]:
    """The sum of the terms, in which terms of one form become one term, or none if they cancel.
    Unbounded terms are gathered only with terms of the same sign, since inf - inf is not 0."""
    subtracted = [term for term in terms if term.unbounded and term.coefficient < 0]
    added = [term for term in terms if not (term.unbounded and term.coefficient < 0)]
    return cancelled(added) + cancelled(subtracted)


def cancelled(terms: Sequence[Term]) -> list[Term]:
    """The difference of two sums, in which any two terms of one form and opposite signs cancel."""
    totals: dict[Any, Term] = {}
    for term in terms:
        key = _form(term)
        known = totals.get(key)
        if known is not None and not term.infinite:
            term = known._replace(coefficient=known.coefficient + term.coefficient)
        totals[key] = term
    return [term for term in totals.values() if term.coefficient]


def _form(term: Term) -> Any:
    """Equal only for terms that differ in nothing but the coefficient and the names of their bound
    variables."""
    ordered = in_order(term)
    own = [variable for variable, _ in term.bound]
    names: dict[int, int] = {}
    for variable in (*variables_in_order(ordered), *own):
        if variable not in names:
            names[variable] = -1 - len(names) if variable in own else variable
    bound = tuple(sorted((names[variable], side) for variable, side in term.bound))
    named = with_rows(ordered, bound, lambda row: affine.rename(row, names))
    return (bound, tuple(sorted(named.conditions)), tuple(sorted(named.atoms)))


def in_order(term: Term) -> Term:
    """The term with its factors sorted, and with its conditions sorted and each once."""
    conditions = tuple(sorted(set(term.conditions)))
    return term._replace(atoms=tuple(sorted(term.atoms)), conditions=conditions)


def variables_in_order(term: Term) -> list[int]:
    """The variables of the atoms' and the conditions' rows, in order."""
    return [variable for row in rows_of(term) for variable in _in_row(row)]


def _in_row(row: Row) -> list[int]:
    found = [i for i, _ in row.terms]
    return found + [i for inner, _, _ in row.floors for i in _in_row(inner)]
