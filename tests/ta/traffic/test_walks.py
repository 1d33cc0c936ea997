"""Inner loops and reductions of rows, as one would find them by hand; what an inner loop costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

import einderive as ed
from einderive.derivations.matching.cost import CPU
from einderive.derivations.matching.profile import from_data, to_data
from einderive.ta.ir.node import Access
from einderive.ta.ir.operator import Work
from einderive.ta.ir.subst import accesses
from einderive.ta.traffic.walks import (
    dense_strides,
    held_strides,
    is_reordered,
    padded_copies,
    reduction_unit,
    walks,
)

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
    assert walks(scope.body, scope.extents).rows == rows


@pytest.mark.parametrize("shapes", [{"A": (2, 0), "B": (2,)}, {"A": (0, 2), "B": (0,)}])
def test_empty_tensors_have_no_rows(shapes: dict[str, tuple[int, ...]]) -> None:
    (scope,) = ed.parse("Y[i,j] = A[i,j]*B[i]", **shapes).roots()
    assert walks(scope.body, scope.extents).rows == 0


def test_each_inner_loop_takes_time() -> None:
    machine = replace(CPU, row_seconds=1e-6)
    work = Work(10.0, 40.0, rows=100.0)
    assert machine.seconds(work) - CPU.seconds(work) == pytest.approx(1e-4)
    assert from_data(to_data(machine)) == machine


@pytest.mark.parametrize(
    ("text", "ranges", "shape", "unit"),
    [
        ("Y[i] = sum[k](A[i,k])", {}, (4, 3), "reduction"),
        ("Y[i] = max[k](A[i,k])", {}, (4, 3), "extreme"),
        ("Y[i] = sum[k](A[k,i])", {}, (4, 32), "reduction of rows"),
        ("Y[i] = max[k](A[k,i])", {}, (4, 32), "extreme of rows"),
        ("Y[i] = sum[k](A[k,i])", {}, (4, 3), "reduction of pieces"),  # short rows
        ("Y[i] = sum[k](A[i+k])", {"k": (0, 3), "i": (0, 4)}, (6,), "reduction"),
        ("Y[i] = sum[k](A[3*i+k])", {"k": (0, 3), "i": (0, 4)}, (12,), "reduction"),
        ("Y[i] = sum[k](A[k,2*i])", {"i": (0, 2)}, (3, 4), "reduction of pieces"),
        ("Y[i,j] = sum[k](A[i,k,j])", {}, (2, 3, 1), "reduction"),
        ("Y[i,j] = sum[k](A[k,i,j])", {}, (2, 16, 16), "reduction of rows"),
        ("Y[i,j] = sum[k](A[k,j,i])", {}, (2, 16, 16), "reduction of pieces"),  # in another order
        ("Y[i,j] = sum[k](A[k,j,i])", {}, (17, 16, 16), "reduction of rows"),  # and then copied
        ("Y[i] = sum[k,l](A[i,k,l])", {}, (2, 3, 4), "reduction"),  # k and l are one
        ("Y[i] = sum[k,l](A[k,i,l])", {}, (2, 3, 4), "reduction of pieces"),
        ("Y[i] = sum[k](A[i,k]^2)", {}, (4, 3), "reduction"),  # as A, so the squares lie
        ("Y[i] = sum[k](A[k,i]^2)", {}, (4, 32), "reduction of rows"),
    ],
)
def test_what_a_reduction_goes_through(
    text: str, ranges: dict[str, tuple[int, int]], shape: tuple[int, ...], unit: str
) -> None:
    (scope,) = ed.parse(text, ranges=ranges, A=shape).roots()
    assert reduction_unit(scope) == unit


@pytest.mark.parametrize(
    ("read", "copied"),
    [
        ("A[k,j,i]", True),
        ("A[k,j,i]^2", True),
        ("A[j,k,i]", True),
        ("A[k,i,j]", False),
        ("A[j,i,k]", False),  # along the memory
    ],
)
def test_results_in_another_order_are_copied(read: str, copied: bool) -> None:
    (scope,) = ed.parse(f"Y[i,j] = sum[k]({read})", A=(17, 17, 17)).roots()
    assert is_reordered(scope) is copied
    (small,) = ed.parse(f"Y[i,j] = sum[k]({read})", A=(7, 7, 7)).roots()
    assert not is_reordered(small)


@pytest.mark.parametrize(
    ("body", "calls", "numbers"),
    [
        ("A[i]*B[i] + C[i]", 2, 0),
        ("2*A[i] + B[i]", 1, 0),  # an addition multiplies one of its terms
        ("2*A[i] + 3*B[i]", 2, 1),
        ("A[i] + 1", 1, 1),
        ("1/A[i]^2", 2, 0),
        ("where(A[i] < B[i], A[i], B[i])", 2, 0),
        ("where(A[i], B[i], C[i])", 2, 1),  # a condition that is made
        ("A[i] < B[i]", 2, 0),  # a number is made of it
        ("A[i]*sigmoid(A[i])", 2, 0),
        ("exp(A[i])*sigmoid(exp(A[i]))", 3, 0),  # the exponential is computed once
        ("A[i]*exp(-i^2)", 1, 0),  # what reads no data is computed once
    ],
)
def test_operations_on_whole_arrays(body: str, calls: int, numbers: int) -> None:
    shapes = {name: (4,) for name in "ABC" if name in body}
    (scope,) = ed.parse(f"Y[i] = {body}", ranges={"i": (0, 4)}, **shapes).roots()
    found = walks(scope.body, scope.extents)
    assert (found.calls, found.numbers) == (calls, numbers)


def test_elements_that_are_moved() -> None:
    """A and B are read and a result is written; then C is read, and the result is overwritten."""
    (scope,) = ed.parse("Y[i] = A[i]*B[i] + C[i]", A=(5,), B=(5,), C=(5,)).roots()
    found = walks(scope.body, scope.extents)
    assert (found.moved, found.most) == (5 * 3 + 5 * 2, 5)


@pytest.mark.parametrize(
    ("body", "jumps", "views"),
    [
        ("A[i,j]*B[i,j]", 0, 0),
        ("A[i,j]*B[j,i]", 16, 1),
        ("A[i,j]*exp(B[j,i])", 16, 1),
        ("A[i,j]*C[i]", 0, 1),
        ("A[i,j]*s", 0, 0),
    ],
)
def test_jumps_and_views(body: str, jumps: int, views: int) -> None:
    shapes = {"A": (4, 4), "B": (4, 4), "C": (4,), "s": ()}
    given = {name: shape for name, shape in shapes.items() if name in body.replace("exp", "")}
    (scope,) = ed.parse(f"Y[i,j] = {body}", **given).roots()
    found = walks(scope.body, scope.extents)
    assert (found.jumps, found.views) == (jumps, views)


def test_a_read_of_a_view_goes_through_the_memory_of_its_source() -> None:
    program = ed.parse("T[i,j] = A[j,2*i] where i in 0:2; Y[i] = sum[j](T[i,j])", A=(3, 4))
    (scope,) = program.roots()
    assert isinstance(scope.body, Access)
    assert held_strides(scope.body.source) == (2, 4)
    assert dense_strides(scope.body.source, scope.body.rows) == {0: 2, 1: 4}


def test_a_read_outside_of_its_source_is_a_view_of_a_padded_copy() -> None:
    text = "T[i,j] = A[i,j-1] where i in 0:2, j in 0:6; Y[i,j] = 2*T[i,j]"
    (scope,) = ed.parse(text, A=(2, 4)).roots()
    (read,) = [part for part in accesses(scope.body) if part.source.shape == (2, 6)]
    assert held_strides(read.source) == (6, 1)


def test_a_reversed_read_is_a_dense_copy() -> None:
    text = "T[i,j] = A[i,3-j] where j in 0:4; Y[i,j] = T[i,j]*B[i,j]"
    (scope,) = ed.parse(text, A=(2, 4), B=(2, 4)).roots()
    assert {held_strides(read.source) for read in accesses(scope.body)} == {(4, 1)}


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        ("A[i,j]", 0.0),
        ("A[i,j-1]", 0.7),  # the copy, one side
        ("A[i-1,j-1]", 1.0),
        ("A[i,3-j]", 0.4),
    ],
)
def test_padded_copies(text: str, copies: float) -> None:
    ranges = {"i": (0, 2), "j": (0, 4)}
    (scope,) = ed.parse(f"Y[i,j] = {text}*A[i,j]", ranges=ranges, A=(2, 4)).roots()
    found = [padded_copies(r.rows, r.source.ranges, scope.domain) for r in accesses(scope.body)]
    assert sum(found) == pytest.approx(copies)
