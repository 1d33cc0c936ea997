"""Inputs of unequal magnitudes: what they show of a program that adds in another order."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.dtypes import LIMITS
from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.accuracy.inputs.chosen import hard_families
from einderive.frontend.accuracy.inputs.drawn import family_inputs
from einderive.frontend.accuracy.inputs.families import FAMILIES
from einderive.frontend.accuracy.inputs.unequal import UNEQUAL
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.api.compiled import Derivation
from einderive.frontend.running.execute import executable
from tests.frontend.races import candidates_win

GROUPED = "T[i] = B[i]-Z[i]; Y[i] = T[i]+C[i]"
SHAPES = dict.fromkeys("BZC", (300,))


@pytest.fixture(autouse=True)
def all_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every family is tried, however slow the machine is."""
    monkeypatch.setattr("einderive.frontend.accuracy.hard_cases.PREPARING_SECONDS", inf)


def error_of(text: str, given: str, accuracy: Accuracy) -> FamilyError:
    """The error of the second text's program, given as if it were the first one's."""
    found, other = (ed.derive(t, accuracy=accuracy, **SHAPES) for t in (text, given))
    built = executable(other.unchanged, "cpu")
    cases = HardCases(found.source, "cpu", accuracy)
    return next(e for e in cases.errors(built, 99) if e.family == UNEQUAL)


@pytest.mark.parametrize("accuracy", ["normwise", "componentwise"])
def test_what_opens_a_difference_is_refused(accuracy: Accuracy) -> None:
    found = error_of(GROUPED, "Y[i] = B[i]-Z[i]+C[i]", accuracy)
    assert found.written < 1e-6
    assert found.error > 0.01
    assert not found.accepted
    assert found.digits > 4
    assert error_of(GROUPED, GROUPED, accuracy).accepted


def test_the_digits_lost_are_reported_of_fast_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    run = Derivation.compile(
        ed.derive(GROUPED, accuracy="fast", **dict.fromkeys("BZC", (200_000,)))
    )
    assert run.chosen.cancelling == ("1 (merge-stage)",)
    assert run.chosen.digits_lost > 4
    assert f"digits were lost on inputs with {UNEQUAL}" in " ".join(str(run).split())
    strict = ed.compile(GROUPED, accuracy="componentwise", seconds=0.01, **SHAPES)
    assert not any(trial.cancelling for trial in strict.trials)


@pytest.mark.parametrize(
    ("text", "shapes", "large", "small"),
    [
        (GROUPED, SHAPES, {"B": 1, "Z": 1}, {"C"}),
        ("T[i] = B[i]+Z[i]; Y[i] = T[i]+C[i]", SHAPES, {"B": 1, "Z": -1}, {"C"}),
        ("Y[i,j] = A[i]+C[i]-D[j]", {"A": (9,), "C": (9,), "D": (7,)}, {"A": 1, "D": 1}, {"C"}),
        (
            "T[i] = B[i]-Z[i]; Y[i] = T[i]*W[i] + C[i,k]*V[k]",
            {"B": (9,), "Z": (9,), "W": (9,), "C": (9, 8), "V": (8,)},
            {"B": 1, "Z": 1},
            {"C"},
        ),
    ],
)
def test_the_scales_are_those_of_the_formula(
    text: str, shapes: Any, large: dict[str, int], small: set[str]
) -> None:
    program = ed.parse(text, **shapes)
    family = hard_families(program)[2]
    assert family.name == UNEQUAL
    rounding = torch.finfo(torch.float32).eps
    for tensor, value in family_inputs(program.inputs, family, "cpu").items():
        size = float(value.abs().mean())
        if tensor.name in large:
            assert float((value - large[tensor.name]).abs().max()) <= 4 * rounding
        elif tensor.name in small:
            assert 0 < size < rounding
        else:
            assert 0.1 < size < 2


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i,j] = A[i,k]*B[j,k]", {"A": (5, 4), "B": (6, 4)}),
        ("Y[i] = sum[k]((A[i,k]-B[i,k])^2)", {"A": (5, 4), "B": (5, 4)}),
        ("Y[i,j] = A[i,k]*B[j,k] + C[j]", {"A": (5, 4), "B": (6, 4), "C": (6,)}),
    ],
)
def test_formulas_without_a_difference_beside_others_have_the_common_families(
    text: str, shapes: Any
) -> None:
    assert hard_families(ed.parse(text, **shapes)) == FAMILIES


TWO = "T[i] = B[i]-Z[i]; U[i] = C[i]-D[i]; Y[i] = T[i]+U[i]"


def test_each_difference_has_a_family_with_the_other_small() -> None:
    program = ed.parse(TWO, **dict.fromkeys("BZCD", (300,)))
    _, _, one, other, *_ = hard_families(program)
    assert {one.name, other.name} > {UNEQUAL}
    made = [family_inputs(program.inputs, family, "cpu") for family in (one, other)]
    large = [{t.name for t, v in values.items() if float(v.abs().min()) > 0.9} for values in made]
    assert sorted(map(sorted, large)) == [["B", "Z"], ["C", "D"]]
    rounding = torch.finfo(torch.float32).eps
    for names, values in zip(large, made, strict=True):
        assert all(
            float(v.abs().mean()) < rounding for t, v in values.items() if t.name not in names
        )


@pytest.mark.parametrize(
    "opened", ["T[i] = B[i]-Z[i]; Y[i] = T[i]+C[i]-D[i]", "U[i] = C[i]-D[i]; Y[i] = B[i]-Z[i]+U[i]"]
)
def test_what_opens_one_of_two_differences_is_refused(opened: str) -> None:
    shapes = dict.fromkeys("BZCD", (300,))
    found, given = (ed.derive(text, **shapes) for text in (TWO, opened))
    built = executable(given.unchanged, "cpu")
    cases = HardCases(found.source, "cpu", "componentwise")
    errors = cases.errors(built, 4)
    assert errors[-1].family.startswith(UNEQUAL)
    assert not errors[-1].accepted


def test_integers_have_no_scale() -> None:
    for dtype in LIMITS:
        assert hard_families(ed.parse(GROUPED, dtypes=dtype, **SHAPES)) == FAMILIES
