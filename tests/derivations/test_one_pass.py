"""A mean and the squares of deviations from it in one pass: found, checked, and exact enough."""

from __future__ import annotations

from math import isqrt

import pytest
import torch

import einderive as ed
from einderive.derivations.one_pass import about, last_iterators, one_pass
from einderive.derivations.rules.provisional_mean import propose
from einderive.derivations.search.extract import Plan
from einderive.derivations.steps.provisional_mean import ProvisionalMean
from einderive.frontend.derived import Derived
from einderive.frontend.running.execute import executable
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse_expression
from tests.derivations.seeds import read

STD = "M[c] = mean[i](X[i,c]); V[c] = mean[i]((X[i,c]-M[c])^2); out S[c] = sqrt(V[c])"
ALL = "Y = var[i,j](X[i,j])"
SCALED = "M[c] = mean[i](X[i,c]); out Y[c] = sum[i]((X[i,c]-M[c])^2)*W[c]"
BATCH = "M[c] = mean[n,h](X[n,c,h]); out V[c] = mean[n,h]((X[n,c,h]-M[c])^2)"
SQUARES = "{S[i:0:9,j:0:64] (X[i,j] - {S[i:0:9,j:0:64] X[i,j]}[])^2}"
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
        ("M[c] = max[i](X[i,c]); out Y[c] = mean[i]((X[i,c]-M[c])^2)", {"X": (400, 3)}, []),
        (STD.replace("-M[c])", "-M[2-c])"), {"X": (400, 3)}, []),  # of another column
        (STD.replace(";", " where i in 0:200;", 1), {"X": (400, 3)}, []),  # of half of the data
        (
            "K[c] = sum[i]((X[i,c]-A[c])^2); out Y[c] = mean[i]((X[i,c]-K[c])^2)",
            {"X": (400, 3), "A": (3,)},
            [],  # no mean, but squares of the same data
        ),
    ],
)
def test_where_it_is_found(text: str, shapes: dict[str, tuple[int, ...]], steps: list[str]) -> None:
    roots = ed.parse(text, **shapes).roots()
    groups = [*one_pass(stages(*roots))]
    assert [step.rule for group in groups for step in group] == steps
    assert len(groups) == bool(steps)
    found = in_one_pass(derived(text, **shapes))
    assert bool(found) == bool(steps)
    for plan in found:
        report = derived(text, **shapes).check_plan(plan)
        assert report, str(report)


def parts(text: str, shape: tuple[int, ...]) -> list[tuple[list[int], tuple[int, ...], int]]:
    """Of each sum: the extents, those of a part's iterators among them, and the first terms."""
    (group,) = one_pass(stages(*ed.parse(text, X=shape).roots()))
    return [
        ([side.extent for side in step.before.sums], step.witness.inner, step.witness.terms)
        for step in group
        if isinstance(step.witness, ProvisionalMean)
    ]


OVER = "M[c] = mean[i]({0}) where i in 0:289; out V[c] = mean[i](({0}-M[c])^2) where i in 0:289"
COLUMNS = "M[c] = mean[i,j](X[i,j,c]); out V[c] = mean[i,j]((X[i,j,c]-M[c])^2)"


@pytest.mark.parametrize(
    ("text", "shape", "extents", "inner", "terms"),
    [
        (STD, (289, 3), [17, 17], (0,), 5),  # both run over 17 values, and the first one over rows
        (OVER.format("X[288-i,c]"), (289, 3), [17, 17], (1,), 5),
        (OVER.format("X[i//17,c]*X[i,c]"), (289, 3), [17, 17], (1,), 5),
        (COLUMNS, (10_000, 64, 3), [10_000, 64], (1,), 8),
        (COLUMNS, (4, 20_000, 3), [4, 1250, 16], (1,), 36),
        (COLUMNS, (100, 16_000, 3), [100, 16_000], (1,), 127),
        (COLUMNS, (4, 1024, 3), [4, 1024], (1,), 32),
        (COLUMNS, (4, 1025, 3), [4, 205, 5], (1,), 15),
    ],
)
def test_what_is_a_part(
    text: str, shape: tuple[int, ...], extents: list[int], inner: tuple[int, ...], terms: int
) -> None:
    assert parts(text, shape) == [(extents, inner, terms)] * 2


@pytest.mark.parametrize(
    "count",
    [
        *(64, 68, 289, 396, 401, 527, 4 * 73, 2 * 997, 4 * 997, 6000, 10_000, 1 << 30),
        *(17 * 4357, 13 * 3329),  # a divisor is too small, or too large by one
    ],
)
def test_a_part_has_about_four_times_as_many_terms_as_there_are_parts(count: int) -> None:
    """By its definition: the nearest number of terms that divides all."""
    text = "M = mean[i](X[i]); out V = mean[i]((X[i]-M)^2)"
    wanted = min(4 * isqrt(count), 1 << 16)
    fitting = [
        terms
        for terms in range(16, count // 4 + 1 if count < 1 << 20 else 1 << 18)
        if count % terms == 0 and terms <= 4 * wanted and wanted <= 4 * terms
    ]
    if not fitting:
        assert not [*one_pass(stages(*ed.parse(text, X=(count,)).roots()))]
        return
    (extents, (place,), _), _ = parts(text, (count,))
    assert extents[place] == min(fitting, key=lambda terms: abs(terms - wanted))


@pytest.mark.parametrize(
    ("extents", "least", "inner"),
    [
        ((10, 20, 30), (2, 2), (2,)),
        ((10, 20, 16), (2, 2), (1, 2)),
        ((10, 30, 16), (5, 16), (1, 2)),
        ((10, 30, 16), (11, 16), (2,)),
        ((10, 30, 16), (11, 17), ()),
        ((10, 30, 16), (10, 480), (1, 2)),
        ((10, 30, 16), (10, 481), ()),
        ((100,), (2, 2), ()),
    ],
)
def test_the_last_iterators(
    extents: tuple[int, ...], least: tuple[int, int], inner: tuple[int, ...]
) -> None:
    names = "ijk"[: len(extents)]
    ranges = ",".join(f"{i}:0:{extent}" for i, extent in zip(names, extents, strict=True))
    scope = read(f"{{S[{ranges}] X[{','.join(names)}]}}", X=extents)
    assert last_iterators(scope, *least) == inner


@pytest.mark.parametrize(
    ("extents", "terms"), [((64, 4), 4), ((4, 64), 16), ((3, 67), 15), ((3, 75), 15)]
)
def test_terms_of_a_provisional_mean(extents: tuple[int, int], terms: int) -> None:
    """The square root of those of a part, but of its last iterator only."""
    one, other = extents
    assert about(read(f"{{S[i:0:{one},j:0:{other}] X[i,j]}}", X=extents), (0, 1)).terms == terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SQUARES, 1),
        (SQUARES.replace("[])", "[] - C)"), 1),
        ("{S[i:0:9,j:0:64] (X[i,j]-C)^2}", 0),
        ("{S[i:0:9,j:0:64] X[i,j]}", 0),
        ("{max[i:0:9,j:0:64] X[i,j]}", 0),
        ("{S[i:0:9] (X[i,0]-{S[i:0:9] X[i,0]}[])^2}", 0),
    ],
)
def test_what_the_rule_proposes(text: str, found: int) -> None:
    assert len([*propose(read(text, X=(9, 64), C=()))]) == found


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
    half = parse_expression(SQUARES, {"X": expr.tensor("X", (9, 64), "float16")})
    assert isinstance(half, Scope)
    assert not [*propose(half)]
    for dtype in ("int64", "float16", "bfloat16"):
        other = ed.derive(STD, X=(400, 3), dtypes=dtype, budget=ed.Budget(states=1))
        assert not in_one_pass(other)
