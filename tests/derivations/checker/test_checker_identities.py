"""Each condition in the checker decides an equality: the true is shown, the false is not."""

from __future__ import annotations

import pytest

from einderive.derivations.checker import compare, families, not_equal, regions, translate
from tests.amount import sampled
from tests.derivations.checker.changes import agree
from tests.derivations.checker.identities import BEYOND, FALSE, SHAPES, TRUE
from tests.derivations.seeds import read


@pytest.fixture
def formal_sums_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is shown by writing out definitions first, nor in parts afterwards."""
    monkeypatch.setattr(compare, "same_by_definition", lambda left, right: False)
    monkeypatch.setattr(compare, "reduced_alike", lambda left, right, exp_sum: False)
    monkeypatch.setattr(compare, "MOST_CUTS", 0)


@sampled(4)
@pytest.mark.parametrize("name", TRUE)
@pytest.mark.usefixtures("formal_sums_alone")
def test_what_is_true_is_shown(name: str) -> None:
    one, other = (read(text, **SHAPES) for text in TRUE[name])
    assert one is not other
    assert agree(one, other)
    assert not_equal(one, other) is None
    assert not_equal(other, one) is None


@sampled(2)
@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not(name: str) -> None:
    one, other = (read(text, **SHAPES) for text in FALSE[name])
    assert not agree(one, other)
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None


@sampled(2)
@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.usefixtures("formal_sums_alone")
def test_what_is_beyond_a_limit_is_not_shown(name: str) -> None:
    one, other = (read(text, **SHAPES) for text in BEYOND[name])
    assert agree(one, other)
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None


@pytest.mark.usefixtures("formal_sums_alone")
def test_operands_in_too_many_pieces_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = "2*where(i >= 2, A[i], 0) + 3*where(i >= 3, A[i], 0) + 4*where(i >= 4, A[i], 0)"
    one = read(f"{{L[i:0:9] tanh({steps})}}", **SHAPES)
    other = read(f"{{L[i:0:9] tanh({{L[i:0:9] {steps}}}[i])}}", **SHAPES)
    for most, reason in (
        (4, None),
        (3, "not shown: too large: an operand falls into too many pieces"),
    ):
        monkeypatch.setattr(regions, "MOST_PIECES", most)
        assert not_equal(one, other) == reason


@pytest.mark.usefixtures("formal_sums_alone")
def test_too_many_functions_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (read(text, **SHAPES) for text in TRUE["functions of equal sums"])
    for most, shown in ((2, True), (1, False)):  # one operand, of one term with one atom
        monkeypatch.setattr(families, "MOST_COMPARED", most)
        assert (not_equal(one, other) is None) is shown


@pytest.mark.parametrize(
    ("limit", "most", "body"),
    [
        ("MOST_STEPS", 3, "A[i]"),  # three reads
        ("MOST_FACTORS", 3, "A[i]^3"),
    ],
)
@pytest.mark.usefixtures("formal_sums_alone")
def test_what_is_too_large_is_not_compared(
    limit: str, most: int, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = read(f"{{L[i:0:9] {body}}}", **SHAPES)
    other = read(f"{{L[i:0:9] {{L[i:0:9] {body}}}[i]}}", **SHAPES)
    monkeypatch.setattr(translate, limit, most)
    assert not_equal(one, other) is None
    monkeypatch.setattr(translate, limit, most - 1)
    assert str(not_equal(one, other)).startswith("not shown: too large")


@pytest.mark.usefixtures("formal_sums_alone")
def test_the_law_of_exp_is_used_only_where_it_is_wanted() -> None:
    one = read("{L[i:0:9] exp(A[i] + B[i])}", **SHAPES)
    other = read("{L[i:0:9] exp(A[i])*exp(B[i])}", **SHAPES)
    assert not_equal(one, other) is None
    assert not_equal(one, other, exp_sum=False) is not None
    zero = read("{L[i:0:9] exp(A[i] - {L[i:0:9] A[i]}[i])}", **SHAPES)
    again = read("{L[i:0:9] exp({L[i:0:9] A[i]}[i] + B[i] - A[i] - {L[i:0:9] B[i]}[i])}", **SHAPES)
    assert not_equal(zero, again, exp_sum=False) is None
    assert not_equal(zero, read("{L[i:0:9] 1}", **SHAPES), exp_sum=False) is None
