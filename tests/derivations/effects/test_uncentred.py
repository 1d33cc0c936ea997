"""Which steps multiply out a difference of data as they are."""

from __future__ import annotations

import pytest

from einderive.derivations.rules.centre import CENTRE
from einderive.derivations.steps.distribute import Distribute
from einderive.derivations.steps.expand import Expand
from einderive.derivations.steps.kernel import Step, apply
from tests.derivations.seeds import read

SHAPES = {"A": (4, 3), "B": (5, 3), "W": (5, 3), "P": (3, 2), "M": (3,)}
BOX = "{L[i:0:4,j:0:5] S[k:0:3] "


@pytest.mark.parametrize(
    ("body", "witness", "expected"),
    [
        ("(A[i,k] - B[j,k])^2", Expand(), True),
        ("(2*A[i,k] - 3*B[j,k])^4", Expand(), True),
        ("(A[i,k] - B[j,k])*P[k,0]", Expand(), True),
        ("A[i,k] - B[j,k]", Distribute(), True),
        ("(A[i,k] + {L[j:0:5,k:0:3] -2*B[j,k]}[j,k])^2", Expand(), True),
        ("(A[i,k] - {L[k:0:3] S[j:0:5] B[j,k]/5}[k])^2", Expand(), True),
        ("(A[i,k] - finite({L[k:0:3] S[j:0:5] B[j,k]/5}[k]))^2", Expand(), True),
        ("(A[i,k] + {L[j:0:5,k:0:3] B[j,k] - M[k]}[j,k])^2", Expand(), True),
        ("(A[i,k] + B[j,k])^2", Expand(), False),
        ("A[i,k]*(W[j,k] + {L[j:0:5,k:0:3] S[r:0:2] P[k,r]*M[r]}[j,k])", Expand(), False),
        ("(A[i,k]*M[k] - B[j,k]*W[j,k])^2", Expand(), False),
        ("(A[i,k] - 2)^2", Expand(), False),
        ("A[i,k]*B[j,k] - A[i,k]^2", Distribute(), False),
        ("(exp(A[i,k]) - exp(B[j,k]))^2", Expand(), False),
    ],
)
def test_steps(body: str, witness: Expand | Distribute, expected: bool) -> None:
    before = read(BOX + body + "}", **SHAPES)
    step = Step("any", before, apply(before, witness), witness)
    assert step.multiplies_uncentred() is expected


def test_a_centred_difference_may_be_multiplied_out() -> None:
    before = read(BOX + "(A[i,k] - B[j,k])^2}", **SHAPES)
    (step,) = CENTRE.steps(before)
    assert not step.multiplies_uncentred()
    expanded = Step("expand", step.after, apply(step.after, Expand()), Expand())
    assert not expanded.multiplies_uncentred()
    summed = apply(expanded.after, Distribute())
    assert not Step("distribute", expanded.after, summed, Distribute()).multiplies_uncentred()
