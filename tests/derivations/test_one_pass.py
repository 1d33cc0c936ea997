"""A mean and the squares of deviations from it in one pass: found, checked, and exact enough."""

from __future__ import annotations

import pytest
import torch

import einderive as ed
from einderive.derivations.one_pass import one_pass
from einderive.derivations.search.extract import Plan
from einderive.frontend.derived import Derived
from einderive.frontend.running.execute import executable
from einderive.ta.ir.subst import stages

STD = "M[c] = mean[i](X[i,c]); V[c] = mean[i]((X[i,c]-M[c])^2); out S[c] = sqrt(V[c])"
ALL = "Y = var[i,j](X[i,j])"
SCALED = "M[c] = mean[i](X[i,c]); out Y[c] = sum[i]((X[i,c]-M[c])^2)*W[c]"
BATCH = "M[c] = mean[n,h](X[n,c,h]); out V[c] = mean[n,h]((X[n,c,h]-M[c])^2)"
ROWS = "Y[i] = std[j](A[i,j]*B[j])"


def derived(text: str, **shapes: tuple[int, ...]) -> Derived:
    return ed.derive(text, budget=ed.Budget(states=1), **shapes)


def in_one_pass(derivation: Derived) -> list[Plan]:
    return [
        plan
        for plan in derivation.candidates
        if any(step.rule == "provisional-mean" for step in plan.steps)
    ]


@pytest.mark.parametrize(
    ("text", "shapes", "steps"),
    [
        (STD, {"X": (400, 3)}, ["split-iterator", "provisional-mean"] * 2),
        (ALL, {"X": (64, 40)}, ["provisional-mean"] * 2),
        (SCALED, {"X": (400, 3), "W": (3,)}, ["split-iterator", "provisional-mean"] * 2),
        (BATCH, {"X": (8, 3, 64)}, ["provisional-mean"] * 2),
        (ROWS, {"A": (3, 600), "B": (600,)}, ["split-iterator", "provisional-mean"] * 2),
        (
            "M = mean[i](X[i//200]) where i in 0:2000; "
            "out V = mean[i]((X[i//200]-M)^2) where i in 0:2000",
            {"X": (10,)},
            [],  # no iterator runs within a part
        ),
        (STD, {"X": (401, 3)}, []),  # no parts of equal length
        (STD, {"X": (40, 3)}, []),  # too few terms
        ("Y[c] = mean[i]((X[i,c]-M[c])^2)", {"X": (400, 3), "M": (3,)}, []),  # no mean to find
        (
            "M[c] = mean[i](W[i,c]); out Y[c] = mean[i]((X[i,c]-M[c])^2)",
            {"X": (400, 3), "W": (400, 3)},
            [],  # of other data
        ),
        ("M[c] = mean[i](X[i,c]); out Y[c] = mean[i](abs(X[i,c]-M[c]))", {"X": (400, 3)}, []),
    ],
)
def test_where_it_is_found(text: str, shapes: dict[str, tuple[int, ...]], steps: list[str]) -> None:
    roots = ed.parse(text, **shapes).roots()
    groups = [*one_pass(stages(*roots))]
    assert [step.rule for group in groups for step in group] == steps
    found = in_one_pass(derived(text, **shapes))
    assert bool(found) == bool(steps)
    for plan in found:
        report = derived(text, **shapes).check_plan(plan)
        assert report, str(report)


@pytest.mark.parametrize("far", ["one", "none", "first of each part"])
@pytest.mark.parametrize("mean", [0.0, 1000.0])
def test_no_digits_are_lost(mean: float, far: str) -> None:
    """Also where terms of provisional means are far from all others."""
    derivation = derived(ALL, X=(64, 1600))
    plan = in_one_pass(derivation)[0]
    torch.manual_seed(1)
    x = torch.randn(64, 1600) + mean
    if far != "none":
        x[: 1 if far == "one" else 64, 0] = 1e4
    run = executable(plan, "cpu", compiled=True)
    (found,) = run({derivation.source.inputs[0]: x})
    exact = x.double().var(correction=0)
    assert abs(float(found) - float(exact)) < 2e-6 * float(exact)
    assert derivation.accuracy == "normwise"


def test_short_types_and_strict_nan_have_no_such_program() -> None:
    """In float16, sums of squares over a part end at 65504."""
    strict = ed.derive(STD, X=(400, 3), nan="strict", budget=ed.Budget(states=1))
    assert not in_one_pass(strict)
    for dtype in ("int64", "float16", "bfloat16"):
        other = ed.derive(STD, X=(400, 3), dtypes=dtype, budget=ed.Budget(states=1))
        assert not in_one_pass(other)
