"""Digits lost on rows, against errors made by hand."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log10

import numpy as np
import pytest

from einderive.frontend.accuracy.digits import (
    Limits,
    Loss,
    Row,
    Values,
    loss,
    rows_of,
    sets_standard,
)
from einderive.frontend.accuracy.hard_cases import ExtendedField

EPS = 2.0**-23
LIMITS = Limits(EPS, 2.0**-126, 3.4e38)


def judged(
    wanted: list[list[float]],
    written: list[list[float]],
    got: list[list[float]],
    terms: list[list[float]] | None = None,
) -> Loss:
    exact, ways, mine = ([np.array(row) for row in part] for part in (wanted, written, got))
    sizes = exact if terms is None else [np.array(row) for row in terms]
    values = [Values(r, f, r, (w,)) for r, f, w in zip(exact, sizes, ways, strict=True)]
    return loss(rows_of(values, values, LIMITS), mine, EPS)


def test_a_digit_is_a_factor_of_ten_on_what_the_formula_as_written_loses() -> None:
    wanted = [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    written = [[1.0, 2.0 + 1e-5]] * 3
    assert judged(wanted, written, written).digits == 0
    off = [[1.0, 2.0], [1.0, 2.0 + 1e-3], [1.0, 2.0]]
    assert judged(wanted, written, off).digits == pytest.approx(2.0)
    assert judged(wanted, written, off).error == pytest.approx(5e-4)


def test_a_small_row_beside_a_large_one_is_judged_by_itself() -> None:
    wanted = [[1e6, 1e6], [1.0, 1.0]]
    off = [[1e6, 1e6], [1.0, 1.01]]
    assert judged(wanted, wanted, off).digits == pytest.approx(log10(0.01 / EPS))
    fine = [[1e6, 1e6], [1.0, 1.0 + EPS]]
    assert judged(wanted, wanted, fine).digits == 0


def test_no_result_is_asked_to_be_better_than_one_rounding() -> None:
    wanted = [[1.0 + EPS / 3]]
    assert judged(wanted, wanted, [[1.0]]).digits == 0


def test_a_row_of_zeros_is_judged_by_the_formula_as_written() -> None:
    wanted, terms = [[0.0], [0.0], [0.0]], [[1.0], [1.0], [1.0]]
    exact = judged(wanted, wanted, [[0.0], [1e-6], [0.0]], terms)
    assert exact.digits == pytest.approx(-log10(EPS))
    rounded = [[1e-7], [-1e-7], [1e-7]]
    assert judged(wanted, rounded, [[0.0], [5e-7], [0.0]], terms).digits < 1


def test_a_row_that_is_exact_by_chance_allows_what_others_lose() -> None:
    wanted, terms = [[1e-3]] * 5, [[1.0]] * 5
    written = [[1e-3], [1e-3 + 1e-7], [1e-3 - 1e-7], [1e-3 + 2e-7], [1e-3 - 1e-7]]
    got = [[1e-3 + 3e-7], *[[1e-3]] * 4]
    assert judged(wanted, written, got, terms).digits < 1


def test_what_overflows_as_written_is_not_judged_and_other_infinities_are() -> None:
    wanted = [[1.0, 2.0]]
    assert judged(wanted, [[inf, 2.0]], [[7.0, 2.0]]).digits == 0
    assert judged(wanted, wanted, [[inf, 2.0]]).digits == pytest.approx(-log10(EPS))


def test_a_formula_without_a_right_digit_sets_no_standard() -> None:
    def rows(written: float, wanted: float = 1.0) -> tuple[Row, ...]:
        exact = np.array([wanted])
        values = Values(exact, exact, exact, (np.array([written]),))
        return rows_of([values], [], LIMITS)

    assert sets_standard(rows(1.05))
    assert not sets_standard(rows(1.5))
    assert not sets_standard(rows(inf))
    assert not sets_standard(rows(1.0, inf))


def test_extended_numbers_have_more_digits_where_the_platform_has_them() -> None:
    wide = ExtendedField()
    third = wide.constant(Fraction(1, 3))
    assert third.dtype == np.longdouble
    assert abs(float(third * 3 - 1)) <= np.finfo(np.longdouble).eps
