"""What products pair by pair cost: copies of operands that are no matrices as they lie, and terms
that are formed from reads in different orders."""

from __future__ import annotations

import pytest

from einderive.derivations.matching.cost import eoperator_work
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Work
from einderive.ta.notation.parse import parse

N = 32


def work(text: str, **shapes: int | tuple[int, ...]) -> Work:
    """A shape, or a rank where all extents are N."""
    given = {name: (N,) * each if isinstance(each, int) else each for name, each in shapes.items()}
    (root,) = parse(text, given, "float32").roots()
    assert isinstance(root, Scope)
    return eoperator_work(root, 4, fused=False)


@pytest.mark.parametrize(
    ("read", "copied"),
    [
        ("Q[b,k,m]", 0),  # rows without gaps
        ("Q[b,m,k]", 0),  # columns without gaps
        ("Q[k,b,m]", 0),
        ("Q[k,m,b]", 1),  # the batch is what lies side by side
        ("Q[m,b,k]", 0),
    ],
)
def test_a_matrix_has_rows_or_columns_without_gaps(read: str, copied: int) -> None:
    found = work(f"Y[b,n,m] = P[b,n,k]*{read}", P=3, Q=3)
    assert found.bytes_copied == copied * 2 * N**3 * 4


@pytest.mark.parametrize(("read", "jumps"), [("C[i,j,k]", 0), ("C[k,j,i]", N**3)])
def test_terms_of_reads_in_different_orders_jump(read: str, jumps: int) -> None:
    assert work(f"Y[m] = A[i,j,k]*{read}*B[j,m]", A=3, B=2, C=3).jumps == jumps


def test_the_shape_is_that_of_the_slowest_product() -> None:
    """A matrix times a vector, beside more products of matrices."""
    found = work("Y[i,j] = P[i,k]*Q[k,j]*R[i,j,m]*S[m]", P=(N, 2 * N), Q=(2 * N, N), R=3, S=1)
    assert 1 in found.shape[1:3]
