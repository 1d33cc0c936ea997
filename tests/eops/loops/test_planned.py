"""The loops that plans choose on two threads, by predicted time, and their pseudo-code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.plan import Plan
from tests.eops.loops.programs import grouped

X = (2000, 1000)
CUBE = (60, 50, 100)
BATCH_NORM = (
    "M[j] = mean[i](X[i,j]); V[j] = mean[i]((X[i,j]-M[j])^2); "
    "Y[i,j] = (X[i,j]-M[j])*rsqrt(V[j] + 1e-5)"
)
SOFTMAX = "Y[i,j] = softmax[j](X[i,j])"
STENCILS = "Z[i,j] = X[i-1,j]+X[i+1,j]+X[i,j-1]; Y[i,j] = Z[i-1,j]*Z[i+1,j]*exp(Z[i,j+1])"


def planned(text: str, **shapes: tuple[int, ...]) -> Plan:
    group = grouped(text, shapes)
    found = plan(group, dense(group))
    assert found is not None
    return found


def loops(found: Plan) -> list[str]:
    """The lines that are loops, and what is kept."""
    lines = (line.lstrip() for line in str(found).splitlines())
    return [line for line in lines if line.split()[0] in ("for", "in", "once", "keep")]


ROWS = ["for i1 in 0:1000", "for i1 in 0:1000", "keep v5", "for i1 in 0:1000"]
LONG_ROW = "for i1 in 0:1048576"
COLUMNS = ["for i0 in 0:1000 by 1000", "in parallel for a part of each first loop"]
STEPS = "for i1 in 0:2000, i0 in the block"
NARROW = "for i1 in 0:100000, i0 in the block, 32 times abreast"


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        (SOFTMAX, X, ["in parallel for i0 in 0:2000", *ROWS]),
        (
            SOFTMAX,
            (3, 1 << 20),
            ["for i0 in 0:3", COLUMNS[1], LONG_ROW, LONG_ROW, "keep v5", LONG_ROW],
        ),
        (
            BATCH_NORM,
            X,
            [
                *COLUMNS,
                *(f"{STEPS}, 4 steps at once", "for i0 in the block", "keep v5"),
                *(f"{STEPS}, 4 steps at once", "for i0 in the block", "keep v12"),
                STEPS,
            ],
        ),
        (
            "Y[i,j] = X[i,j]/(1+sum[k](X[k,j]))",
            (100000, 16),
            ["for i0 in 0:16 by 16", COLUMNS[1], f"{NARROW}, 4 steps at once", NARROW],
        ),
        (
            "Y[j] = sum[i](X[i,j]^2)",
            X,
            [*COLUMNS, f"{STEPS}, 4 steps at once", "for i0 in the block"],
        ),
        ("S = sum[i,j](X[i,j]^2)", X, [COLUMNS[1], "for i1 in 0:2000000", "once"]),
        (
            "Y[j,i] = X[i,j]",
            X,
            ["in parallel for i0 in 0:1000, i1 in 0:2000 by 128", "for i1 in the block"],
        ),
        (
            "Y[i,j] = X[i-1,j]+X[i+1,j]+X[i,j-1]",
            X,
            ["in parallel for i0 in 0:2000, i1 in 0:1000 by 1000", "for i1 in the block"],
        ),
    ],
)
def test_loops(text: str, shape: tuple[int, int], expected: list[str]) -> None:
    assert loops(planned(text, X=shape)) == expected


def test_pieces_of_work() -> None:
    turned = planned("Y[j,i] = X[i,j]", X=X)
    assert turned.turned == 0
    assert turned.pieces == (1000 // 32 + 1) * (2000 // 128 + 1)
    (kept,) = planned(SOFTMAX, X=(3, 1 << 20)).kept
    assert (kept.output, kept.size) == (0, 1 << 20)
    rows = planned(SOFTMAX, X=X)
    (kept,) = rows.kept
    assert (kept.output, kept.size, rows.pieces) == (None, 1000, 2000)


def test_how_often_each_loop_runs() -> None:
    """Of each pass: in its first loops, and in all of them."""
    columns = planned(BATCH_NORM, X=(2000, 100_000))
    assert columns.block == 1024
    blocks = 98
    each = [[columns.points(one, depth) for depth in (0, 1)] for one in columns.phases]
    once, steps = [blocks, 100_000], [blocks, 2000 * blocks]
    assert each == [steps, once, steps, once, steps]
    assert [columns.points(one) for one in columns.phases[:2]] == [2000 * 100_000, 100_000]
    window = planned(STENCILS, X=X)
    parts, ahead, beside = 8, 2, 1
    rows = 2000 + parts * ahead  # computed in each part anew
    filled, read = window.phases
    assert [window.points(filled, depth) for depth in (0, 1)] == [rows, rows * (1000 + beside)]
    assert [window.points(read, depth) for depth in (0, 1)] == [2000, 2000 * 1000]
    assert window.points(filled) == rows * (1000 + beside)


def test_how_often_a_window_is_filled_beside_other_loops() -> None:
    where = "where b in 0:3, i in 0:200, j in 0:1000"
    text = f"Z[b,i,j] = exp(X[b,i-1,j]) {where}; "
    group = grouped(f"{text}Y[b,i,j] = Z[b,i-1,j-1]*Z[b,i+1,j+1] {where}", {"X": (3, 200, 1000)})
    every = plans(group, dense(group))
    (made,) = (one for one in every if one.windows and one.parallel == (0, 1) and one.along == 1)
    filled, _ = made.phases
    (window,) = made.windows
    assert (window.first, window.lead) == (-1, 1)
    assert window.beside is not None
    assert window.beside[:2] == (-1, 1)
    rows = 200 + made.parts(1) * 2
    assert made.points(filled) == 3 * rows * (1000 + made.blocks * 2)


@pytest.mark.parametrize("text", [SOFTMAX, BATCH_NORM])
def test_totals_that_shift_what_they_are_added_to(text: str) -> None:
    """X - M is shifted by M; D + 1e-5 is no more than D is, and X/D has another scale."""
    found = planned(text, X=X)
    assert len(found.reductions) == 2
    assert found.shifting == {0}


def test_a_window_as_text() -> None:
    assert str(planned(STENCILS, X=X)) == WINDOW


def test_a_window_of_a_whole_dimension_as_text() -> None:
    where = "where i in 0:60, j in 0:50, l in 0:100"
    text = f"Z[i,j,l] = X[i-1,j,l]+X[i+1,j,l] {where}; "
    made = planned(f"{text}Y[i,j,l] = Z[i-1,j,l]*Z[i+1,j-1,l]*exp(Z[i,j+1,l+1]) {where}", X=CUBE)
    assert loops(made) == [
        "in parallel for i0 in 0:60 by 32, in order, i2 in 0:100 by 100",
        "for i3 = i0 + 1 in 0:60, i4 in 0:50, i5 in the block, 0:1, in 0:100",
        "for i1 in 0:50, i2 in the block",
    ]


def test_few_steps_at_once_as_text() -> None:
    found = planned("Y[i,j] = X[i,j]/(1+sum[k](X[k,j]))", X=(100_000, 16))
    phases = tuple(replace(phase, jam=2) for phase in found.phases)
    line = "for i1 in 0:100000, i0 in the block, 2 times abreast, 2 steps at once"
    assert loops(replace(found, abreast=2, phases=phases))[2:] == [line, line]


def test_a_quotient_of_parts_as_text() -> None:
    assert "v10 = v5 / v6" in str(planned(SOFTMAX, X=X))


WINDOW = """\
in parallel for i0 in 0:2000 by 250, in order, i1 in 0:1000 by 1000
    for i2 = i0 + 1 in 0:2000, i3 in the block, 0:1, in 0:1000
        v9 = p0[1000 * i2 + 1*[i3 - 1]] else 0
        v10 = p0[i3 + 1000*[i2 - 1]] else 0
        v11 = p0[i3 + 1000*[i2 + 1]] else 0
        v12 = v9 + v10 + v11
        w0[i2, i3] = v12, 3003 of them
    for i1 in the block
        v0 = w0[i0 - 1, i1]
        v2 = v0 where i0 - 1 else 0
        v3 = w0[i0 + 1, i1]
        v4 = v3 where -1 * i0 + 1998 else 0
        v5 = w0[i0, i1 + 1]
        v6 = v5 where -1 * i1 + 998 else 0
        v7 = exp(v6)
        v8 = v2 * v4 * v7
        out0[1000 * i0 + i1] = v8"""
