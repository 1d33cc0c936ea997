"""Producers put into their consumers: what cannot go there is not built to find that out."""

from __future__ import annotations

import pytest

import einderive as ed
from derivations.steps import fusion
from derivations.steps.fusion import Fuse, fuse
from derivations.steps.restructure import Merge, merge
from ta.ir.node import Scope
from tests.derivations.sameness import same
from tests.derivations.seeds import read

CHAIN = "; ".join(f"T{n + 1}[i] = T{n}[i-1] + T{n}[i]*T{n}[i+1] where i in 0:64" for n in range(16))


def test_a_read_that_is_left_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each was asked for again after every other that went in, and built to be measured,
    this took 14,000 merges; its time is all in these."""
    count = 0

    def counted(scope: Scope, witness: Merge, exact: bool = True) -> Scope:
        nonlocal count
        count += 1
        return merge(scope, witness, exact)

    monkeypatch.setattr(fusion, "merge", counted)
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
    ],
)
def test_what_goes_in(before: str, after: str) -> None:
    scope = read(before, A=(9,), B=(9,))
    found = fuse(scope, Fuse())
    assert found is read(after, A=(9,), B=(9,))
    assert same(scope, found)
