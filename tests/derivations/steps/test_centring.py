"""Centring: what is proposed, that infinities spoil nothing, and that the search multiplies out."""

from __future__ import annotations

import numpy as np
import pytest

import einderive as ed
from einderive.derivations.checker import not_shown
from einderive.derivations.rules.centre import CENTRE
from einderive.derivations.steps.centre import Centre
from einderive.derivations.steps.kernel import apply
from einderive.ta.errors import RuleRefused
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from tests.amount import CAMPAIGN, first
from tests.derivations.seeds import read

SHAPES = {"A": (4, 3), "B": (5, 3), "C": (5, 3), "T": (2, 2), "X": (6, 6), "m": (3,), "P": (3, 2)}


@pytest.mark.parametrize(
    ("text", "witness"),
    [
        ("{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}", Centre(1, (0, 1), (2,))),
        ("{L[i:0:4,j:0:5] S[k:0:3] (B[j,k] - A[i,k])*P[k,0]}", Centre(2, (0, 1), (2,))),
        ("{L[h:0:6,w:0:6] S[r:0:2,s:0:2] (X[h+r-1,w+s-1] - T[r,s])^2}", Centre(1, (1, 0), ())),
        ("{L[k:0:3] S[i:0:4] (A[i,k] - m[k])^2}", Centre(1, (0, 1), (0,))),
    ],
)
def test_what_is_proposed(text: str, witness: Centre) -> None:
    """The smaller operand's mean, at each value of what indexes both by itself."""
    (step,) = CENTRE.steps(read(text, **SHAPES))
    assert isinstance(step.witness, Centre)
    assert (set(step.witness.parts), step.witness.kept) == (set(witness.parts), witness.kept)
    assert not_shown(step.before, step.after, step.witness) is None
    assert step.keeps_nonfinite()


@pytest.mark.parametrize(
    "text",
    [
        "{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] + B[j,k])^2}",
        "{L[i:0:5] S[k:0:3] (B[i,k] - C[i,k])^2}",
        "{L[i:0:4,j:0:5] S[k:0:3] exp(A[i,k] - B[j,k])}",
        "{L[i:0:4,j:0:5,k:0:3] (A[i,k] - B[j,k])^2}",
        "{L[i:0:4,j:0:5] max[k:0:3] (A[i,k] - B[j,k])^2}",
        "{L[k:0:3] S[i:0:4] (A[i,k] - 3)^2}",
    ],
)
def test_where_nothing_is_proposed(text: str) -> None:
    assert not list(CENTRE.steps(read(text, **SHAPES)))


def test_what_is_centred_is_not_centred_again() -> None:
    scope = read("{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}", **SHAPES)
    (step,) = CENTRE.steps(scope)
    assert not list(CENTRE.steps(step.after))


def test_the_mean_is_checked_from_the_scopes_alone() -> None:
    """Whatever is subtracted from both sides is right, and what differs is not shown."""
    scope = read("{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}", **SHAPES)
    text = (
        "{L[i:0:4,j:0:5] S[k:0:3] ({L[i:0:4,k:0:3] A[i,k] - FIRST}[i,k]"
        " - {L[j:0:5,k:0:3] B[j,k] - SECOND}[j,k])^2}"
    )
    mean = "{L[k:0:3] finite({L[k:0:3] S[i:0:4] A[i,k]/4}[k])}[k]"
    other = mean.replace("/4", "/5")
    witness = Centre(1, (0, 1), (2,))
    for one, second, right in ((mean, mean, True), (other, other, True), (mean, other, False)):
        after = read(text.replace("FIRST", one).replace("SECOND", second), **SHAPES)
        assert (not_shown(scope, after, witness) is None) is right


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_one_infinity_spoils_no_other_row(value: float) -> None:
    scope = read("{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}", **SHAPES)
    after = apply(scope, Centre(1, (0, 1), (2,)))
    values = {name: np.arange(12.0 + 3 * (name == "B")).reshape(-1, 3) for name in "AB"}
    values["A"][2, 1] = value
    found, expected = (evaluate(s, values, RealField()) for s in (after, scope))
    np.testing.assert_array_equal(found, expected)
    assert np.isfinite(found[[0, 1, 3]]).all()
    assert not np.isfinite(found[2]).any()


FOUND = [
    ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (512, 64), "B": (512, 64)}),
    ("Y[i] = min[j](sum[k]((A[i,k]-B[j,k])^2))", {"A": (2048, 64), "B": (256, 64)}),
    (
        "Y[i,j] = (A[i,k]-B[j,k])*M[k,l]*(A[i,l]-B[j,l])",
        {"A": (256, 32), "B": (256, 32), "M": (32, 32)},
    ),
    (
        "Y[h,w] = (A[h+r,w+s]-T[r,s])^2 where h in 0:200, w in 0:200",
        {"A": (215, 215), "T": (16, 16)},
    ),
    ("Y[i,j,l] = (A[i,k]-B[j,k])*P[k,l]", {"A": (128, 64), "B": (128, 64), "P": (64, 32)}),
]


@pytest.mark.parametrize(("text", "shapes"), first(1, FOUND))
def test_found_within_the_default_budget(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    """A program that is centred and multiplied out is predicted to be the fastest, and it checks.
    By default nothing is multiplied out that is not centred."""
    centred(ed.derive(text, **shapes))


@CAMPAIGN
def test_a_variance_of_windows_is_found_with_more_states() -> None:
    """In an image that is large enough: of 200 x 200, the calls of more operators would take longer
    than the terms that are spared."""
    text = (
        "M[h,w] = A[h+r,w+s]/81 where h in 0:1000, w in 0:1000, r in 0:9, s in 0:9;"
        "Y[h,w] = (A[h+r,w+s]-M[h,w])^2/81 where r in 0:9, s in 0:9"
    )
    centred(ed.derive(text, budget=ed.Budget(states=5000), A=(1008, 1008)))


def centred(derivation: ed.Derivation) -> None:
    rules = [{step.rule for step in plan.steps} for plan in derivation.candidates]
    assert {"centre", "expand", "distribute"} <= rules[0]
    assert all("centre" in found for found in rules if "expand" in found)
    assert derivation.check()


@pytest.mark.parametrize("states", [1, 4, 9, 16, 25])
def test_it_is_among_the_programs_whatever_the_budget(states: int) -> None:
    """Also where the search ends before the scope that it leads from is expanded."""
    derivation = ed.derive(*FOUND[0][:1], budget=ed.Budget(states=states), **FOUND[0][1])
    assert any(step.rule == "centre" for plan in derivation.candidates for step in plan.steps)


@pytest.mark.parametrize("term", [-1, 99])
def test_a_position_outside_of_the_body_is_refused(term: int) -> None:
    scope = read("{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}", **SHAPES)
    with pytest.raises(RuleRefused, match="no such sub-term"):
        apply(scope, Centre(term, (0, 1), (2,)))
