"""Inner loops, counted as one would by hand; and what they cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

import einderive as ed
from einderive.derivations.matching.cost import CPU
from einderive.derivations.matching.profile import from_data, to_data
from einderive.ta.facts.broadcasts import broadcast_rows
from einderive.ta.ir.operator import Work

SHAPES = {"A": (2, 3, 5), "B": (2, 3), "C": (5,), "D": (3, 5), "E": (2, 3, 5), "s": ()}


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        ("A[i,j,k]*E[i,j,k]", 0),  # all loops are one
        ("2*A[i,j,k] + 1", 0),
        ("exp(A[i,j,k])*s", 0),
        ("A[i,j,k]*C[k]", 6),  # over k for each i and j
        ("A[i,j,k]*B[i,j]", 6),
        ("A[i,j,k]*D[j,k]", 2),  # j and k are one
        ("A[i,j,k]*(B[i,j] + 1)", 6),
        ("A[i,j,k]*C[k]*B[i,j]", 12),  # two operations
    ],
)
def test_rows(body: str, rows: int) -> None:
    shapes = {name: shape for name, shape in SHAPES.items() if name in body}
    program = ed.parse(f"Y[i,j,k] = {body}", **shapes)
    (scope,) = program.roots()
    assert broadcast_rows(scope.body, scope.extents) == rows


def test_each_inner_loop_takes_time() -> None:
    machine = replace(CPU, row_seconds=1e-6)
    work = Work(10.0, 40.0, rows=100.0)
    assert machine.seconds(work) - CPU.seconds(work) == pytest.approx(1e-4)
    assert from_data(to_data(machine)) == machine
