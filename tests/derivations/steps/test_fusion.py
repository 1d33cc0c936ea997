"""Producers put into their consumers: what cannot go there is not built to find that out."""

from __future__ import annotations

import pytest

import einderive as ed
from einderive.derivations.steps import fuse as fusion
from einderive.derivations.steps import kernel
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.merge import Merge
from einderive.ta.ir.subst import nested_scopes
from einderive.ta.printing.written import MOST_DEPTH, MOST_LENGTH
from tests.derivations.sameness import same
from tests.derivations.seeds import read

CHAIN = "; ".join(f"T{n + 1}[i] = T{n}[i-1] + T{n}[i]*T{n}[i+1] where i in 0:64" for n in range(16))


def test_a_read_that_is_left_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each was asked for again after every other that went in, and built to be measured,
    this took 14,000 merges; its time is all in these."""
    count = 0

    def counted(stage: int) -> Merge:
        nonlocal count
        count += 1
        return Merge(stage)

    monkeypatch.setattr(fusion, "Merge", counted)
    ed.derive(CHAIN, T0=(64,))
    assert 0 < count < 3000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # the border asks for a condition, the read beside it does not
        (
            "{L[i:0:4] {L[i:0:4] A[i] + 1}[i-1] + {L[i:0:4] {L[i:0:4] B[i] + 2}[i]}[i]}",
            "{L[i:0:4] {L[i:0:4] A[i] + 1}[i-1] + B[i] + 2}",
        ),
        # a product that is 0 where it is read outside needs none
        (
            "{L[i:0:4] S[k:0:3] {L[k:0:9] {L[k:0:9] exp(A[k])*B[k]}[k]}[i+k+5]}",
            "{L[i:0:4] S[k:0:3] exp(A[i+k+5])*B[i+k+5]}",
        ),
        # a fill that is never read needs none
        (
            "{L[i:0:4] {L[i:0:9] exp(A[i])}{fill=2}[i+1] + B[i]}",
            "{L[i:0:4] exp(A[i+1]) + B[i]}",
        ),
    ],
)
def test_what_goes_in(before: str, after: str) -> None:
    scope = read(before, A=(9,), B=(9,))
    found = kernel.apply(scope, Fuse())
    assert found is read(after, A=(9,), B=(9,))
    assert same(scope, found)


def nested(depth: int, inner: str) -> str:
    return "exp(" * depth + inner + ")" * depth


def squares(count: int) -> str:
    return "{L[i:0:4] " + " + ".join(f"A[i+{n}]^2" for n in range(count)) + "}[i]"


@pytest.mark.parametrize(
    ("before", "left"),
    [
        # as deep as a body may be made, in a sum, and deeper
        (nested(MOST_DEPTH - 21, f"{{L[i:0:4] {nested(20, 'A[i]')}}}[i]"), 0),
        (nested(MOST_DEPTH - 21, f"{{L[i:0:4] {nested(21, 'A[i]')}}}[i]"), 1),
        # beside one more term as long, and longer
        (f"exp({squares(MOST_LENGTH // 2 - 1)})*{squares(MOST_LENGTH // 2 - 1)}", 0),
        (f"exp({squares(MOST_LENGTH // 2)})*{squares(MOST_LENGTH // 2)}", 1),
        # just as long as a body may be, and longer
        (f"exp({squares(MOST_LENGTH - 1)})", 0),
        (f"exp({squares(MOST_LENGTH)})", 1),
        # what is too long for one read is left there, not everywhere
        (f"exp({squares(MOST_LENGTH)})*{{L[i:0:4] exp(A[i])}}[i]", 1),
    ],
)
def test_what_becomes_too_long_or_too_deep_stays(before: str, left: int) -> None:
    scope = read(f"{{L[i:0:4] {{L[i:0:4] exp(B[i])}}[i] + {before}}}", A=(300,), B=(9,))
    assert len(nested_scopes(kernel.apply(scope, Fuse()))) == left
