"""The lower bound: what it counts, what it does not claim, and that no program goes below it."""

from __future__ import annotations

import pytest

import einderive as ed
from einderive.derivations.matching.bound import lower_bound
from einderive.derivations.matching.cost import H100
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.showcases.cases import REFERENCE
from tests.showcases.cases_11_17 import ALGEBRA
from tests.showcases.cases_18_30 import LAYERS
from tests.showcases.found import by_hand

CASES = {**REFERENCE, **ALGEBRA, **LAYERS}


def elements(text: str, weights: frozenset[str] = frozenset(), **shapes: tuple[int, ...]) -> float:
    """The elements that the bound counts, reads and writes together."""
    found = lower_bound(parse(text, shapes).roots(), H100, 4, weights)
    return (found - H100.call_seconds) * H100.bytes_a_second(1) / 4 if found else 0.0


@pytest.mark.parametrize(
    ("text", "shapes", "count"),
    [
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (4, 5), "B": (5, 6)}, 20 + 30 + 24),
        ("Y[i] = sum[k](A[i,k])", {"A": (4, 5)}, 20 + 4),
        ("Y[i] = max[k](A[i,k])", {"A": (4, 5)}, 20 + 4),
        ("T[i,k] = A[i,k]*B[k]; Y[i] = T[i,k]*C[k]", {"A": (4, 5), "B": (5,), "C": (5,)}, 34),
        ("Y[i] = A[2*i]*B[i] where i in 0:3", {"A": (6,), "B": (3,)}, 3 + 3),
        ("Y[i] = A[i] + B[i]", {"A": (4,), "B": (4,)}, 4),
        ("Y[i] = exp(A[i])", {"A": (4,)}, 4),
        ("Y[i] = A[i]*A[3-i]", {"A": (4,)}, 4),
        ("Y[h] = A[h+r-1]*K[r] where h in 0:6", {"A": (6,), "K": (3,)}, 6),
        ("Y[j,i] = A[i,j]", {"A": (4, 5)}, 0),
    ],
)
def test_what_is_counted(text: str, shapes: dict[str, tuple[int, ...]], count: int) -> None:
    assert elements(text, **shapes) == pytest.approx(count)


def test_weights_are_not_counted() -> None:
    shapes = {"A": (4, 5), "B": (5, 6)}
    assert elements("Y[i,j] = A[i,k]*B[k,j]", frozenset("B"), **shapes) == pytest.approx(44)
    assert elements("Y[i,j] = A[i,k]*B[k,j]", frozenset("AB"), **shapes) == 0


@sampled(6)
@pytest.mark.parametrize("name", CASES)
def test_no_program_by_hand_is_below(name: str) -> None:
    case = CASES[name]
    text, shapes = case.problem(case.formula, case.sizes)
    bound = lower_bound(parse(text, shapes).roots(), H100, 4, frozenset(case.weights))
    assert by_hand(case).seconds >= bound * (1 - 1e-9)


def test_a_program_at_the_bound_is_not_searched() -> None:
    derivation = ed.derive("y[i] = A[i,k]*x[k]", A=(4096, 4096), x=(4096,), target="cuda:90")
    assert derivation.stats.expanded == 0
    assert "no program can be faster" in derivation.stats.stopped
    assert derivation.candidates[0].seconds == pytest.approx(derivation.stats.bound)
