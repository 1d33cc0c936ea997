"""What formal sums of the whole do not show: parts of the loops, reductions of reductions, reads
written out beside an infinity; and bindings that leave out an iterator of one value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import einderive as ed
from einderive.derivations.checker import not_an_instance, not_equal
from einderive.derivations.checker.compare import borders
from einderive.derivations.checker.families import Families
from einderive.derivations.checker.formal import ONE, Atom, NotShown, Term
from einderive.derivations.checker.sets import _orders
from einderive.derivations.checker.translate import Translation
from einderive.derivations.checker.witness import _renamed
from einderive.derivations.matching.match import match
from einderive.eops.library import by_name
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Condition
from einderive.ta.ir.operator import Binding
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.derivations.checker.changes import agree
from tests.derivations.seeds import read

SHAPES = {"A": (9,), "B": (9,), "C": (9, 9), "M": (9, 9)}
CHOICE = "{L[i:0:6] max[k:0:3] where(i < 2, A[i+k], B[i])}"
MASKED = "{L[i:0:4] max[j:0:4] where(j <= i, M[i,j], -inf)}"
SHOWN = (
    (CHOICE, "{L[i:0:6] where(i >= 2, B[i], {L[i:0:2] max[k:0:3] A[i+k]}[i])}"),
    (CHOICE, "{L[i:0:6] where(1-i >= 0, {L[i:0:2] max[k:0:3] A[i+k]}[i], B[i])}"),
    (
        "{L[i:0:6] min[k:0:3] where(i == 2, A[k], B[i])}",
        "{L[i:0:6] where(i == 2, {min[k:0:3] A[k]}[], B[i])}",
    ),
    (
        "{L[i:0:6] max[k:0:3] where(i < 2, A[i+k], where(i >= 4, B[i], B[i] - A[k]))}",
        "{L[i:0:6] where(i < 2, {L[i:0:2] max[k:0:3] A[i+k]}[i], "
        "where(i >= 4, B[i], B[i] + {max[k:0:3] -A[k]}[]))}",
    ),
    (
        "{L[i:0:4] max[k:0:3,l:0:4] maximum(A[k]*B[0] + C[i,l]*B[0], log(A[l]))}",
        "{L[i:0:4] max[l:0:4] "
        "{L[i:0:4,l:0:4] max[k:0:3] maximum(A[k]*B[0] + C[i,l]*B[0], log(A[l]))}[i,l]}",
    ),
    (
        f"{{L[i:0:4] {{{{S[k:0:3] A[k]}}[] - {{S[k:0:3] B[k]}}[]}}[]*{MASKED}[i]}}",
        f"{{L[i:0:4] {MASKED}[i]*({{S[k:0:3] A[k]}}[] - {{S[k:0:3] B[k]}}[])}}",
    ),
)
FALSE = (
    ("{S[i:0:4] {L[i:0:3] S[k:0:3] C[i,k]}[i]}", "{S[i:0:4,k:0:3] C[i,k]}"),
    ("{S[i:0:4] {L[i:1:4] S[k:0:3] C[i,k]}[i]}", "{S[i:0:4,k:0:3] C[i,k]}"),
    (CHOICE, "{L[i:0:6] where(i >= 1, B[i], {L[i:0:2] max[k:0:3] A[i+k]}[i])}"),
    (CHOICE, "{L[i:0:6] where(i >= 3, B[i], {L[i:0:3] max[k:0:3] A[i+k]}[i])}"),
    (CHOICE, "{L[i:0:6] where(i >= 2, B[i], {L[i:0:2] max[k:0:2] A[i+k]}[i])}"),
    (
        "{L[i:0:6] min[k:0:3] where(i == 2, A[k], B[i])}",
        "{L[i:0:6] where(i == 3, {min[k:0:3] A[k]}[], B[i])}",
    ),
    (
        "{L[i:0:4] max[k:0:3,l:0:4] maximum(A[k]*B[0] + C[i,l]*B[0], log(A[l]))}",
        "{L[i:0:4] min[l:0:4] "
        "{L[i:0:4,l:0:4] max[k:0:3] maximum(A[k]*B[0] + C[i,l]*B[0], log(A[l]))}[i,l]}",
    ),
    (
        "{L[i:0:4] max[k:0:3,l:0:4] C[k,l]*A[i]}",
        "{L[i:0:4] S[l:0:4] {L[i:0:4,l:0:4] max[k:0:3] C[k,l]*A[i]}[i,l]}",
    ),
    (
        f"{{L[i:0:4] {{{{S[k:0:3] A[k]}}[] - {{S[k:0:3] B[k]}}[]}}[]*{MASKED}[i]}}",
        f"{{L[i:0:4] {MASKED}[i]*({{S[k:0:3] B[k]}}[] - {{S[k:0:3] A[k]}}[])}}",
    ),
)


@pytest.mark.parametrize(("one", "other"), SHOWN)
def test_what_is_shown(one: str, other: str) -> None:
    left, right = read(one, **SHAPES), read(other, **SHAPES)
    assert agree(left, right)
    assert not_equal(left, right) is None
    assert not_equal(right, left) is None


@pytest.mark.parametrize(("one", "other"), FALSE)
def test_what_is_false(one: str, other: str) -> None:
    left, right = read(one, **SHAPES), read(other, **SHAPES)
    assert not agree(left, right)
    assert not_equal(left, right) is not None
    assert not_equal(right, left) is not None


def test_parts_that_would_cancel_beside_an_infinity_stay() -> None:
    """inf*a - inf*a has no value, where inf*(a - a) is 0."""
    twice = "{L[i:0:4] {L[i:0:4] max[j:0:0] A[j]}[i]*({L[i:0:4] A[i]}[i] - A[i])}"
    zero = "{L[i:0:4] 0*A[i]}"
    assert not_equal(read(twice, **SHAPES), read(zero, **SHAPES)) is not None
    assert not_equal(read(zero, **SHAPES), read(twice, **SHAPES)) is not None


@pytest.mark.parametrize(
    ("condition", "places"),
    [
        ("i >= 3", [3]),
        ("2*i < 9", [5]),
        ("i == 4", [4, 5]),
        ("i == 0", [1]),
        ("i == 8", [8]),
        ("i//2 + i >= 4", []),
        ("i + j >= 4", []),
    ],
)
def test_loops_are_cut_inside_where_a_condition_on_one_of_them_changes(
    condition: str, places: list[int]
) -> None:
    scope = read(f"{{L[i:0:9,j:0:9] where({condition}, A[i], B[i])}}", **SHAPES)
    assert sorted(borders(scope)) == [(0, place) for place in places]


def test_four_cuts_within_each_other_are_too_many() -> None:
    pieces = [f"{number}*A[i+k]" for number in range(2, 7)]
    for count, shown in ((4, True), (5, False)):
        *others, last = pieces[:count]
        one, other = last, f"{{L[i:0:9] max[k:0:3] {last}}}[i]"
        for place, piece in reversed(list(enumerate(others, start=1))):
            one = f"where(i < {place}, {piece}, {one})"
            whole = f"{{L[i:0:9] max[k:0:3] {piece}}}[i]"
            other = f"where(i < {place}, {whole}, {other})"
        left = read(f"{{L[i:0:9] max[k:0:3] {one}}}", **SHAPES)
        right = read(f"{{L[i:0:9] {other}}}", **SHAPES)
        assert agree(left, right)
        assert (not_equal(left, right) is None) is shown


def test_parts_of_other_loops_are_not_compared() -> None:
    one = read(CHOICE, **SHAPES)
    for loops in ("i:0:7", "i:0:6,j:0:2"):
        text = SHOWN[0][1].replace("{L[i:0:6]", f"{{L[{loops}]", 1)
        assert not_equal(one, read(text, **SHAPES)) == "the two sides have different loops"


def test_a_part_that_adds_infinities_of_both_signs_is_not_shown() -> None:
    text = "{{L[i:0:4] where(i < 2, inf, {}[i]) + where(i < 2, -inf, B[i])}}"
    one, other = (read(text.format(name), **SHAPES) for name in "AB")
    assert not_equal(one, other) is not None


def test_sums_that_meet_an_infinity_are_not_called_different() -> None:
    """Where A is not 0, both are infinite."""
    one, other = (read(f"{{L[i:0:9] inf*A[i] + {b}[i]}}", **SHAPES) for b in "AB")
    reason = not_equal(one, other)
    assert reason is not None
    assert reason.startswith("not shown: ")


def test_only_what_is_never_0_cancels_against_its_reciprocal() -> None:
    quotient = "{{L[i:0:9] {0}*B[i]*{{L[i:0:9] 1/{{L[i:0:9] 2*{0}*C[i,0]}}[i]}}[i]}}"
    other = read("{L[i:0:9] B[i]/2/C[i,0]}", **SHAPES)
    assert not_equal(read(quotient.format("A[i]"), **SHAPES), other) is not None
    assert not_equal(read(quotient.format("exp(A[i])"), **SHAPES), other) is None


def test_functions_that_are_not_shown_equal_are_not_called_different() -> None:
    one, other = (read(f"{{L[i:0:4] {text}}}", **SHAPES) for text in ("sin(A[i])", "cos(A[i])"))
    reason = not_equal(one, other)
    assert reason is not None
    assert reason.startswith("not shown: ")


def test_an_iterator_without_a_role_has_one_value() -> None:
    one, two = (
        read(f"{{L[z:0:{extent},i:0:4,j:0:5] S[k:0:3] A[i,k]*B[k,j]}}", A=(4, 3), B=(3, 5))
        for extent in (1, 2)
    )
    binding = match(by_name("matmul"), one)
    assert isinstance(binding, Binding)
    assert all(0 not in role for role in binding.roles.values())
    assert not_an_instance(one, by_name("matmul"), binding) is None
    wider = replace(binding, scope=two)
    reason = not_an_instance(two, by_name("matmul"), wider)
    assert reason == "the roles do not hold each iterator once"


DERIVED: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "Y[i] = max[k](where(i < 2, A[i+k], B[i])) where i in 0:4, k in 0:3",
        {"A": (6,), "B": (4,)},
    ),
    (
        "M[i] = max[j](where(j <= i, X[i,j], -inf)); Y[i] = M[i]*sum[k](A[k]-B[k])",
        {"X": (4, 4), "A": (3,), "B": (3,)},
    ),
    (
        "Y[z,f,h] = A[c,h+r-1]*K[f,c,r] where h in 0:9, z in 0:1",
        {"A": (3, 9), "K": (4, 3, 3)},
    ),
    (
        "Y[z,f,h] = A[c,i]*K[f,c,h-2*i] where h in 0:19, z in 0:1",
        {"A": (3, 9), "K": (4, 3, 3)},
    ),
    ("Y[h,z] = sum[r](A[h+r-1]) where h in 0:9, z in 0:1, r in 0:3", {"A": (9,)}),
    ("Y[z,i,j] = A[i,k]*B[k,j] where z in 0:1", {"A": (4, 3), "B": (3, 5)}),
)  # fmt: skip


@sampled(4)
@pytest.mark.parametrize(("text", "shapes"), DERIVED, ids=[text for text, _ in DERIVED])
def test_every_candidate_checks(text: str, shapes: dict[str, Any]) -> None:
    found = ed.derive(text, budget=ed.Budget(states=400), **shapes)
    for number in range(len(found.candidates)):
        report = found.check(number)
        assert report, f"{number}: {report}"


def test_many_equal_factors_are_in_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """All orders of 20 of them would fill the memory."""
    equal = [Atom(2, ())] * 3
    monkeypatch.setattr("einderive.derivations.checker.sets.MOST_PERMUTATIONS", 6)
    assert len(_orders(equal)) == 6
    monkeypatch.setattr("einderive.derivations.checker.sets.MOST_PERMUTATIONS", 5)
    with pytest.raises(NotShown, match="many equal factors"):
        _orders(equal)


def test_operands_that_fall_into_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two operands of two pieces each have four together."""
    translation = Translation(Families([Range(0, 4)]), ())
    operands = [
        (Term(ONE, conditions=(Condition(">=", affine.shift(affine.iterator(0), -first)),)),)
        for first in (1, 2)
    ]
    monkeypatch.setattr("einderive.derivations.checker.translate.MOST_PIECES", 4)
    assert len(translation._in_regions(operands)) == 4
    monkeypatch.setattr("einderive.derivations.checker.translate.MOST_PIECES", 3)
    with pytest.raises(NotShown, match="too many pieces"):
        translation._in_regions(operands)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tanh(A[i]) != 0", "tanh(A[i])"),
        ("sum[k](A[k] > B[i]) != 0", "sum[k](A[k] > B[i])"),
        ("((A[i] > 0) + (B[i] > 0)) != 0", "(A[i] > 0) + (B[i] > 0)"),
        ("((A[i] > 0)*B[i]) != 0", "(A[i] > 0)*B[i]"),
    ],
)
def test_what_is_no_truth_is_not_its_difference_from_zero(text: str, value: str) -> None:
    (one,), (other,) = (
        parse(f"Y[i] = {body}", {name: (4,) for name in "AB" if f"{name}[" in body}).roots()
        for body in (text, value)
    )
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None


def test_a_sum_of_truths_beside_zero() -> None:
    differs = "(((A[i] > 0) + (B[i] > 0)) != 0)"
    texts = f"Y[i] = {differs}*A[i] + A[i]", f"Y[i] = ({differs} + 1)*A[i]"
    (one,), (other,) = (parse(text, {"A": (4,), "B": (4,)}).roots() for text in texts)
    assert not_equal(one, other) is None


def test_a_letter_is_renamed_where_it_stands_alone() -> None:
    assert _renamed("max(a, tanh(a)) + a*abs(c-a)") == "max(b, tanh(b)) + b*abs(c-b)"
