"""Several results whose reads are shifted along the inner loop: one result after the other."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.cost import CACHE, near
from einderive.eops.loops.drafts.group import Group
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import check

N = (30, 20)
ALONG = "P[i,j] = a[i,j+1]-a[i,j] where j in 0:19; Q[i,j] = a[i,j]+a[i,j+1] where j in 0:19"
BORDER = "P[i,j] = b[i,j]-a[i,j]+a[i-1,j]; Q[i,j] = b[i,j]*(a[i,j]-a[i,j-1])"
SHARED = "T[i,j] = exp(a[i,j-1]) where j in 0:20; P[i,j] = T[i,j]+b[i,j]; Q[i,j] = b[i,j]*T[i,j]"
BELOW = "P[i,j] = b[j]*a[i+1,j] where i in 0:29; Q[i,j] = b[j]-a[i+1,j] where i in 0:29"
ALIKE = "P[i,j] = a[i,j]+b[i,j]; Q[i,j] = a[i,j]*b[i,j]"


def outputs(text: str) -> tuple[Scope, ...]:
    return parse(text, {n: shape(n, text) for n in "ab" if f"{n}[" in text}, "float32").roots()


def shape(name: str, text: str) -> tuple[int, ...]:
    return N[1:] if f"{name}[j]" in text else N


def results_of_passes(text: str, *, open_sizes: bool = False) -> list[int]:
    found = outputs(text)
    group = Group(stages(*found), found)
    made = plan(group, dense(group), None, open_sizes)
    assert made is not None
    return [len(phase.outputs) for phase in made.phases]


@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize(
    ("text", "results"),
    [
        (ALONG, [1, 1]),
        (BORDER, [1, 1]),
        (SHARED, [1, 1]),
        (ALIKE, [2]),
        (BELOW, [2]),  # other rows, from their beginnings
        ("P[i,j] = a[i,j-1] where j in 0:20", [1]),
    ],
)
def test_results_of_one_pass(text: str, results: list[int], open_sizes: bool) -> None:
    assert results_of_passes(text, open_sizes=open_sizes) == results


@pytest.mark.parametrize("text", [ALONG, BORDER, SHARED, BELOW])
def test_each_result_is_what_the_formula_says(text: str) -> None:
    roots, random = outputs(text), np.random.default_rng(5)
    inputs = {name: random.uniform(0.5, 1.5, shape(name, text)) for name in "ab"}
    assert check(Group(stages(*roots), roots), inputs, Random(text))


def test_each_result_of_a_long_row_is_made_block_by_block() -> None:
    found = parse("P[i] = a[i+1]-a[i]; Q[i] = a[i]*a[i+1]", {"a": (4_000_001,)}).roots()
    made = plan(Group(stages(*found), found), ((1,),))
    assert made is not None
    assert [len(phase.outputs) for phase in made.phases] == [1, 1]
    assert near(made) <= CACHE
