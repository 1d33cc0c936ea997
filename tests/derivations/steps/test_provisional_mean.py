"""Sums of parts about a provisional mean: equal to what they replace, and what is refused."""

from __future__ import annotations

import pytest

from einderive.derivations.steps import kernel
from einderive.derivations.steps.provisional_mean import ProvisionalMean, as_read
from einderive.derivations.steps.told import UNNAMED
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from tests.derivations.seeds import read
from tests.fuzz.judge import Judge

SHAPES = {"A": (2, 3, 7), "M": (2, 3), "W": (2, 3), "V": (7,)}
SQUARES = "{L[c:0:2] S[b:1:3,i:2:7] W[c,b]*(A[c,b,i] - M[c,b])^2}"
LONG = ",".join(f"{name}:0:2" for name in "abcdefghi")
"""Nine iterators: sets of their numbers are in another order."""


def scope_of(text: str) -> Scope:
    return read(text, **SHAPES, N=(2,) * 7 + (3,))


@pytest.mark.parametrize(
    ("text", "inner", "terms", "left"),
    [
        (SQUARES, (1,), 2, 1),
        (SQUARES, (0, 1), 5, 0),
        (SQUARES.replace("M[c,b]", "M[c,1]"), (1, 0, 1), 1, 0),
        ("{L[c:0:2] S[b:1:3,i:2:7] W[c,b]*A[c,b,i]*V[i]}", (1,), 5, 1),
        ("{L[c:0:2] S[b:1:3,i:2:7] W[c,b]*A[c,b,i]}", (0,), 2, 1),
        ("{L[c:0:2] S[a:0:2,b:1:3,i:2:7] M[c,a]*A[a,b,i]}", (0, 1, 2), 4, 0),
        ("{L[c:0:2] S[a:0:2,b:1:3,i:2:7] M[c,a]*A[a,b,i]}", (1, 2), 4, 1),
        ("{L[c:0:2] S[b:1:3,i:2:7] V[i]*(A[c,b,i] - M[c,b])^2}", (1,), 3, 1),
        ("{L[c:0:2] S[b:1:3,i:2:7] (A[c,b,i] - M[c,b])^3}", (1,), 3, 1),
    ],
)
def test_the_sums_are_the_same(text: str, inner: tuple[int, ...], terms: int, left: int) -> None:
    scope = scope_of(text)
    found = kernel.apply(scope, ProvisionalMean(inner, terms))
    assert Judge().difference(scope, found) is None
    assert len(found.sums) == left


@pytest.mark.parametrize(
    ("text", "inner", "terms", "reason"),
    [
        (SQUARES, (1,), 0, "between one and all"),
        (SQUARES, (1,), 6, "between one and all"),
        (SQUARES, (2,), 1, "at least one of the sum's"),
        (SQUARES.replace("S[", "max["), (1,), 1, "at least one of the sum's"),
    ],
)
def test_what_is_refused(text: str, inner: tuple[int, ...], terms: int, reason: str) -> None:
    with pytest.raises(RuleRefused, match=reason):
        kernel.apply(scope_of(text), ProvisionalMean(inner, terms))


def test_what_a_reader_is_told() -> None:
    squares, many = scope_of(SQUARES), scope_of(f"{{S[{LONG}] N[a,b,c,d,e,f,g,h+i]}}")
    assert ProvisionalMean((1,), 2).bound(squares) == (
        ("t", "k"),
        ("g(s)", "W[i,j]"),
        ("f(s,t)", "A[i,j,k]"),
        ("a(s)", "M[i,j]"),
    )
    both = ProvisionalMean((8, 1), 2)
    assert [name for name, _ in both.bound(many)] == ["t", "g(s)", "f(s,t)"]
    first, last = (UNNAMED.of(many)[place] for place in (1, 8))
    assert both.bound(many)[0] == ("t", f"{first}, {last}")
    assert both.told(many, UNNAMED).startswith(f"the terms over {first}, {last} are summed")
    assert ProvisionalMean((1,), 2).told(squares, UNNAMED).startswith("the terms over k are")


def test_totals_lie_in_memory_as_the_data_do() -> None:
    scope = read(f"{{S[{LONG}] A[a,b,c,d,e,f,g]*N[h+i]}}", N=(3,), A=(2,) * 7)
    assert as_read(scope.body) == tuple(range(9))
