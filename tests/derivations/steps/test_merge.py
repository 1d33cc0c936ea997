"""Merging a nested scope into its reader, case by case: printed text before and after."""

from __future__ import annotations

import pytest

from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.kernel import apply
from einderive.derivations.steps.merge import Merge
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.printing.show import show
from einderive.ta.printing.written import MOST_LENGTH, written
from tests.derivations.every_step import proved, refusal, scope_of

MERGED = {
    "a map in place": (
        "{L[i:0:4] {L[i:0:6] exp(A[i])}[i+1]}",
        "{L[i:0:4] exp(A[i+1])}",
    ),
    "a map read outside its loops, guarded": (
        "{L[i:0:4] {L[i:0:3] exp(A[i])}[i+1]}",
        "{L[i:0:4] where(i < 2, exp(A[i+1]), 0)}",
    ),
    "a map read at one place below its loops, guarded": (
        "{L[i:0:3] {L[i:0:3] exp(A[i])}[i-1]}",
        "{L[i:0:3] where(i-1 >= 0, exp(A[i-1]), 0)}",
    ),
    "a map read at one place above its loops, guarded": (
        "{L[i:0:3] {L[i:0:3] exp(A[i])}[i+1]}",
        "{L[i:0:3] where(i < 2, exp(A[i+1]), 0)}",
    ),
    "a map that is zero outside its loops": (
        "{L[i:0:9] {L[i:0:6] A[i]^2}[i+1]}",
        "{L[i:0:9] A[i+1]^2}",
    ),
    "a map with a fill": (
        "{L[i:0:9] {L[i:0:6] A[i]^2}{fill=-inf}[i]}",
        "{L[i:0:9] where(i < 6, A[i]^2, -inf)}",
    ),
    "a map under a power": (
        "{L[i:0:4] {L[i:0:6] exp(A[i])}[i]^2*B[i]}",
        "{L[i:0:4] B[i]*exp(A[i])^2}",
    ),
    "a map read twice, the first": (
        "{L[i:0:4] {L[i:0:6] exp(A[i])}[i]*{L[i:0:6] exp(A[i])}[i+1]}",
        None,
    ),
    "a sum into a sum": (
        "{S[i:0:4] B[i]*{L[i:0:4] S[k:0:3] M[i,k]*K[k]}[i]}",
        "{S[i:0:4,j:0:3] B[i]*K[j]*M[i,j]}",
    ),
    "a sum read outside its loops, where it is zero": (
        "{S[i:-1:7] B[i]*{L[i:0:4] S[k:0:3] M[i,k]*K[k]}[i]}",
        "{S[i:-1:7,j:0:3] B[i]*K[j]*M[i,j]}",
    ),
    "a sum read outside its loops, guarded": (
        "{S[i:-1:7] B[i]*{L[i:0:4] S[k:0:3] exp(M[i,k])}[i]}",
        None,
    ),
    "a sum into a product without a sum": (
        "{L[i:0:4] B[i]*{L[i:0:4] S[k:0:3] M[i,k]}[i]}",
        "{L[i:0:4] S[j:0:3] B[i]*M[i,j]}",
    ),
    "a max alone": (
        "{L[i:0:3] {L[i:0:4] max[k:0:3] M[i,k]}[i+1]}",
        "{L[i:0:3] max[j:0:3] M[i+1,j]}",
    ),
    "a max of a max": (
        "{max[i:0:4] {L[i:0:4] max[k:0:3] M[i,k]}[i]}",
        "{max[i:0:4,j:0:3] M[i,j]}",
    ),
    "a prod of a prod": (
        "{prod[i:0:4] {L[i:0:4] prod[k:0:3] M[i,k]}[i]}",
        "{prod[i:0:4,j:0:3] M[i,j]}",
    ),
}


@pytest.mark.parametrize(("before", "after"), MERGED.values(), ids=MERGED)
def test_merge(before: str, after: str | None) -> None:
    found = proved(before, Merge(0))
    if after is not None:
        assert show(scope_of(found)) == show(scope_of(after))
        assert scope_of(found) is scope_of(after)


REFUSED_MERGES = {
    "a max into a sum": ("{S[i:0:4] {L[i:0:4] max[k:0:3] M[i,k]}[i]}", "does not merge"),
    "a sum into a product with an infinite fill": (
        "{L[i:0:4] B{fill=inf}[i-1]*{L[i:0:4] S[k:0:3] M[i,k]}[i]}",
        "an infinite number multiplies",
    ),
    "a sum into a product with what reads an infinite fill": (
        "{L[i:0:2] {L[i:0:2] B{fill=-inf}[i-1]}[i]*{L[i:0:2] S[k:0:3] A[i+k]}[i]}",
        "an infinite number multiplies",
    ),
    "a sum into a max": ("{max[i:0:4] {L[i:0:4] S[k:0:3] M[i,k]}[i]}", "does not merge"),
    "a max into a min": ("{min[i:0:4] {L[i:0:4] max[k:0:3] M[i,k]}[i]}", "does not merge"),
    "a prod into a sum": ("{S[i:0:4] {L[i:0:4] prod[k:0:3] M[i,k]}[i]}", "does not merge"),
    "a sum into a prod": ("{prod[i:0:4] B[i]*{L[i:0:4] S[k:0:3] M[i,k]}[i]}", "does not merge"),
    "a max into a product": ("{L[i:0:4] B[i]*{L[i:0:4] max[k:0:3] M[i,k]}[i]}", "does not merge"),
    "a prod into a product": ("{L[i:0:4] B[i]*{L[i:0:4] prod[k:0:3] M[i,k]}[i]}", "not merge"),
    "a scaled max": ("{L[i:0:4] -1*{L[i:0:4] max[k:0:3] M[i,k]}[i]}", "does not merge"),
    "a sum under a power": ("{L[i:0:4] {L[i:0:4] S[k:0:3] M[i,k]}[i]^2}", "factor of the whole"),
    "a sum in a denominator": ("{L[i:0:4] A[i]/{L[i:0:4] S[k:0:3] M[i,k]}[i]}", "factor"),
    "a sum under a function": ("{L[i:0:4] exp({L[i:0:4] S[k:0:3] M[i,k]}[i])}", "factor"),
    "a sum in a term": ("{L[i:0:4] B[i] + {L[i:0:4] S[k:0:3] M[i,k]}[i]}", "factor"),
    "a sum as factor and elsewhere": (
        "{L[i:0:4] {L[i:0:4] S[k:0:3] M[i,k]}[i]*exp({L[i:0:4] S[k:0:3] M[i,k]}[i])}",
        "once",
    ),
    "a sum with a fill": ("{L[i:0:6] {L[i:0:4] S[k:0:3] M[i,k]}{fill=1}[i]}", "has a fill"),
    "a max read outside": ("{L[i:0:6] {L[i:0:4] max[k:0:3] M[i,k]}[i]}", "has a fill"),
    "a max read outside, filled with -inf": (
        "{L[i:0:6] {L[i:0:4] max[k:0:3] M[i,k]}{fill=-inf}[i]}",
        "has a fill",
    ),
    "an empty sum": ("{S[i:0:0] A[i]*{L[i:0:6] B[i]^2}[i]}", "empty range"),
    "an empty nested sum": ("{S[i:0:4] A[i]*{L[i:0:6] S[k:0:0] M[i,k]}[i]}", "empty range"),
    "no such read": ("{L[i:0:4] A[i]}", "no such read"),
}


@pytest.mark.parametrize(("before", "reason"), REFUSED_MERGES.values(), ids=REFUSED_MERGES)
def test_merge_refuses(before: str, reason: str) -> None:
    assert reason in refusal(before, Merge(0))


def test_merge_has_no_negative_positions() -> None:
    assert "no such read" in refusal("{L[i:0:4] {L[i:0:6] exp(A[i])}[i+1]}", Merge(-1))


def _chain(count: int) -> Scope:
    """y = x*x + x: each stage doubles the length of what the chain is as one expression."""
    at = [affine.iterator(0)]
    read: Node = expr.access(expr.tensor("A", (9,)), at)
    for _ in range(count):
        stage = make_scope([(0, 9)], (), expr.add(expr.power(read, 2), read))
        read = expr.access(stage, at)
    return stage


def test_producers_are_fused_up_to_a_length() -> None:
    short = apply(_chain(6), Fuse())
    assert not nested_scopes(short)
    long = apply(_chain(40), Fuse())
    assert nested_scopes(long)
    assert all(written(stage.body).short for stage in stages(long))
    assert max(written(stage.body).length for stage in stages(long)) > MOST_LENGTH // 4
