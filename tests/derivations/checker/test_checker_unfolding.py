"""Reads replaced by the bodies of what they read: only where these are what is read."""

from __future__ import annotations

import pytest

from derivations.checker.unfolding import MOST_DEPTH, same_by_definition
from ta import affine, expr
from ta.canon import scope as make_scope
from ta.node import Node, Scope
from tests.derivations.checker.identities import SHAPES
from tests.derivations.seeds import read

SIDE = 9
AT = affine.iterator(0)
START = expr.access(expr.tensor("A", (SIDE,)), [AT])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("{L[i:0:9] {L[j:0:9] A[j] + 1}[i]*B[i]}", "{L[i:0:9] (A[i] + 1)*B[i]}"),
        ("{L[i:0:4] {L[j:2:9] A[j] + 1}[i+2]*B[i]}", "{L[i:0:4] (A[i+2] + 1)*B[i]}"),
        ("{L[i:0:9] {L[j:0:9] {L[j:0:9] -A[j]}[j] + 1}[i]*B[i]}",
         "{L[i:0:9] ({L[j:0:9] 1 - A[j]}[i])*B[i]}"),
    ],
)  # fmt: skip
def test_what_is_read_is_written_out(left: str, right: str) -> None:
    one, other = read(left, **SHAPES), read(right, **SHAPES)
    assert one is not other
    assert same_by_definition(one, other)
    assert same_by_definition(other, one)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("{L[i:0:5] {L[j:0:4] A[j] + 1}[i]}", "{L[i:0:5] A[i] + 1}"),
        ("{L[i:0:9] {L[j:1:9] A[j] + 1}[i]}", "{L[i:0:9] A[i] + 1}"),
        ("{L[i:0:9] {L[j:0:9] S[k:0:9] C[j,k]}[i]}", "{L[i:0:9] C[i,0]}"),
        ("{L[i:0:9] {L[j:0:9] max[k:0:9] C[j,k]}[i]}", "{L[i:0:9] {L[j:0:9] S[k:0:9] C[j,k]}[i]}"),
    ],
)  # fmt: skip
def test_what_is_read_elsewhere_or_reduced_is_not(left: str, right: str) -> None:
    one, other = read(left, **SHAPES), read(right, **SHAPES)
    assert not same_by_definition(one, other)
    assert not same_by_definition(other, one)


def chain(count: int, *, without: int | None = None) -> Scope:
    """tanh of tanh of ..., a stage for each but the one that its reader writes out."""
    body: Node = START
    for number in range(count):
        body = expr.apply("tanh", body)
        if number not in (without, count - 1):
            body = expr.access(make_scope([(0, SIDE)], (), body), [AT])
    return make_scope([(0, SIDE)], (), body)


def written_out(count: int) -> Scope:
    body: Node = START
    for _ in range(count):
        body = expr.apply("tanh", body)
    return make_scope([(0, SIDE)], (), body)


def test_deep_expressions_stay_where_they_are() -> None:
    assert same_by_definition(chain(MOST_DEPTH + 1), written_out(MOST_DEPTH + 1))
    assert not same_by_definition(chain(MOST_DEPTH + 2), written_out(MOST_DEPTH + 2))


def test_what_both_sides_hold_stays() -> None:
    long = 2 * MOST_DEPTH
    for without in (0, MOST_DEPTH // 2, MOST_DEPTH, long - 2):
        assert same_by_definition(chain(long), chain(long, without=without))
        assert same_by_definition(chain(long, without=without), chain(long))
