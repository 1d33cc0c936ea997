"""Inner loops and reductions of rows, as one would find them by hand; what an inner loop costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

import einderive as ed
from einderive.derivations.matching.cost import CPU
from einderive.derivations.matching.profile import from_data, to_data
from einderive.ta.facts.memory_walks import adds_rows, broadcast_rows
from einderive.ta.ir.node import Access
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


@pytest.mark.parametrize("shapes", [{"A": (2, 0), "B": (2,)}, {"A": (0, 2), "B": (0,)}])
def test_empty_tensors_have_no_rows(shapes: dict[str, tuple[int, ...]]) -> None:
    (scope,) = ed.parse("Y[i,j] = A[i,j]*B[i]", **shapes).roots()
    assert broadcast_rows(scope.body, scope.extents) == 0


def test_each_inner_loop_takes_time() -> None:
    machine = replace(CPU, row_seconds=1e-6)
    work = Work(10.0, 40.0, rows=100.0)
    assert machine.seconds(work) - CPU.seconds(work) == pytest.approx(1e-4)
    assert from_data(to_data(machine)) == machine


@pytest.mark.parametrize(
    ("text", "ranges", "shape", "rows"),
    [
        ("Y[i] = sum[k](A[i,k])", {}, (4, 3), False),
        ("Y[i] = sum[k](A[k,i])", {}, (4, 3), True),
        ("Y[i] = sum[k](A[i+k])", {"k": (0, 3), "i": (0, 4)}, (6,), True),
        ("Y[i] = sum[k](A[3*i+k])", {"k": (0, 3), "i": (0, 4)}, (12,), False),
        ("Y[i] = sum[k](A[k,2*i])", {"i": (0, 2)}, (3, 4), False),
        ("Y[i,j] = sum[k](A[i,k,j])", {}, (2, 3, 1), False),
    ],
)
def test_reductions_that_combine_rows(
    text: str, ranges: dict[str, tuple[int, int]], shape: tuple[int, ...], rows: bool
) -> None:
    (scope,) = ed.parse(text, ranges=ranges, A=shape).roots()
    assert isinstance(scope.body, Access)
    assert adds_rows(scope, scope.body) == rows
