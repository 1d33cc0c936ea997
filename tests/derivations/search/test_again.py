"""Derivations made again for other sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import einderive as ed
from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.rules import ALL_RULES
from einderive.derivations.search.again import again, by_name
from einderive.eops.library import OPERATORS
from tests.amount import sampled

RULES = by_name(ALL_RULES)
CASES: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    (
        "Y[i,j] = (A[i,k]-B[j,k])^2",
        {"A": (300, 20), "B": (200, 20)},
        {"A": (250, 20), "B": (210, 20)},
        2,
    ),
    (
        "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:9, w in 0:9",
        {"A": (2, 8, 9, 9), "K": (16, 8, 3, 3)},
        {"A": (5, 8, 9, 9), "K": (16, 8, 3, 3)},
        3,
    ),
    (
        "Y[b,m,w] = A[b,m,k]*B[b,m+4*w-32,k] where w in 0:17",
        {"A": (1, 512, 16), "B": (1, 512, 16)},
        {"A": (3, 256, 16), "B": (3, 256, 16)},
        1,
    ),
    (
        "Y[n,h,w] = A[n,h+i,w+j]/225 where h in 0:50, w in 0:50, i in 0:15, j in 0:15",
        {"A": (4, 64, 64)},
        {"A": (17, 64, 64)},
        3,
    ),
]


@sampled(4)
@pytest.mark.parametrize(("text", "here", "there", "least"), CASES)
def test_again(text: str, here: dict[str, Any], there: dict[str, Any], least: int) -> None:
    """The same rules and operators, and the independent checker agrees."""
    found = ed.derive(text, budget=ed.Budget(states=600), **here)
    program, made = ed.parse(text, **there), 0
    for plan in found.candidates:
        args = found.source.roots(), program.roots(), OPERATORS, MACHINES[found.target], RULES
        other = again(plan, *args)
        if other is None or not plan.steps:
            continue
        made += 1
        assert [s.rule for s in other.steps if not s.witness.folds] == [
            s.rule for s in plan.steps if not s.witness.folds
        ]
        assert sorted(s.operator or "" for s in other.stages if s.operator != "view") == sorted(
            s.operator or "" for s in plan.stages if s.operator != "view"
        )
        assert replace(found, source=program, candidates=(other,)).check()
    assert made >= least


def test_at_the_same_sizes_each_program_is_made_again() -> None:
    text, here, _, _ = CASES[0]
    found = ed.derive(text, budget=ed.Budget(states=600), **here)
    roots = found.source.roots()
    for plan in found.candidates:
        other = again(plan, roots, roots, OPERATORS, MACHINES[found.target], RULES)
        assert other is not None
        assert other.roots == plan.roots


def test_a_factor_that_no_longer_divides() -> None:
    """Of 512 rows every fourth one is taken together; 511 rows do not divide by 4."""
    text, here, _, _ = CASES[2]
    found = ed.derive(text, budget=ed.Budget(states=600), **here)
    program = ed.parse(text, A=(1, 511, 16), B=(1, 511, 16))
    args = found.source.roots(), program.roots(), OPERATORS, MACHINES[found.target], RULES
    phases = [p for p in found.candidates if any(s.rule == "phase" for s in p.steps)]
    assert phases
    for plan in phases:
        other = again(plan, *args)
        assert other is None or replace(found, source=program, candidates=(other,)).check()


@pytest.mark.parametrize("rows", [(150, 210), (210, 150), (1, 7)])
def test_the_mean_of_the_operand_that_was_the_smaller_one(rows: tuple[int, int]) -> None:
    """Centring by the mean of B holds where A is smaller, too, though the search would take A's."""
    text, here, _, _ = CASES[0]
    found = ed.derive(text, budget=ed.Budget(states=600), **here)
    program = ed.parse(text, A=(rows[0], 20), B=(rows[1], 20))
    args = found.source.roots(), program.roots(), OPERATORS, MACHINES[found.target], RULES
    centred = [p for p in found.candidates if any(s.rule == "centre" for s in p.steps)]
    assert len(centred) > 2
    for plan in centred:
        other = again(plan, *args)
        assert other is not None
        assert replace(found, source=program, candidates=(other,)).check()
