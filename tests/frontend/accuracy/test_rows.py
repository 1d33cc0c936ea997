"""Rows of outputs computed without the rest are those of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.frontend.accuracy.rows import LEAST, ROWS, WORK, narrowed, pieces
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.affine import Range
from einderive.ta.ir.subst import points_of

CASES: list[tuple[str, dict[str, Any]]] = [
    ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (30, 7), "B": (11, 7)}),
    ("T[i,k] = A[i,l]*B[l,k]; Y[i,j] = T[i,k]*T[j,k]", {"A": (20, 5), "B": (5, 6)}),
    (
        "T[h] = A[h+r-1]*K[r] where h in 0:40; Y[h] = T[h-2]-T[h+2] where h in 0:40",
        {"A": (40,), "K": (3,)},
    ),
    (
        "T[i] = A[i]^2 where i in 0:9; Y[i,j] = T[i//2]*T[(i+j)%9] where j in 0:5, i in 0:16",
        {"A": (9,)},
    ),
    (
        "M[i] = max[j](A[i,j]); E[i,j] = exp(A[i,j]-M[i]); S[i] = E[i,j]; Y[i,j] = E[i,j]/S[i]",
        {"A": (25, 8)},
    ),
    ("Y[b,i,j] = where(i >= j, A[b,i]*A[b,j], -1) where j in 0:6", {"A": (4, 6)}),
    ("Y = A[i]*B[i]; Z[i] = A[i]-B[i]", {"A": (12,), "B": (12,)}),
]


@pytest.mark.parametrize(("text", "shapes"), CASES, ids=[text for text, _ in CASES])
@pytest.mark.parametrize("most", [1, 500, WORK])
def test_pieces_are_parts_of_the_outputs(text: str, shapes: dict[str, Any], most: int) -> None:
    program = ed.parse(text, **shapes)
    generator = np.random.default_rng(0)
    values = {t.name: generator.standard_normal(t.shape) for t in program.inputs}
    whole = [evaluate(root, values, RealField()) for root in program.roots()]
    found = pieces(program.roots(), most)
    assert {piece.output for piece in found} == set(range(len(whole)))
    for piece in found:
        part = evaluate(piece.scope, values, RealField())
        np.testing.assert_array_equal(part, whole[piece.output][piece.index])
        wide = evaluate(piece.wide, values, RealField())
        np.testing.assert_allclose(wide[piece.inside], part)


def test_rows_are_whole_and_hold_the_corners() -> None:
    program = ed.parse("Y[i,j] = A[i,k]*B[j,k]", A=(50, 6), B=(70, 6))
    found = pieces(program.roots())
    assert len(found) == ROWS
    rows = [piece.index[0].start for piece in found]
    assert {0, 49} <= set(rows)
    assert all(piece.index[1] == slice(0, 70) for piece in found)
    assert points_of(*(piece.scope for piece in found)) == ROWS * 70 * 6


def test_where_rows_are_much_work_pieces_at_both_ends_are_taken() -> None:
    program = ed.parse("Y[i,j] = A[i,k]*B[j,k]", A=(500, 6000), B=(7000, 6000))
    found = pieces(program.roots())
    assert points_of(*(piece.scope for piece in found)) <= 2 * WORK
    corners = {(piece.index[0].start, piece.index[1].start) for piece in found}
    length = found[0].index[1].stop
    assert length >= LEAST
    assert {(0, 0), (499, 7000 - length)} <= corners


def test_what_is_read_alone_is_computed() -> None:
    program = ed.parse("T[i,j] = A[i,k]*B[k,j]; Y[i] = sum[j](exp(T[i,j]))", A=(90, 5), B=(5, 8))
    (root,) = program.roots()
    one = narrowed(root, (Range(3, 4),))
    assert points_of(one) == 8 * 5 + 8
