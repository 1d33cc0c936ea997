"""What products pair by pair cost: copies of operands that are no matrices as they lie, and terms
that are formed from reads in different orders."""

from __future__ import annotations

import pytest

from einderive.derivations.matching.cost import eoperator_work
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Work
from einderive.ta.notation.parse import parse

N = 32


def work(text: str, **ranks: int) -> Work:
    (root,) = parse(text, {name: (N,) * rank for name, rank in ranks.items()}, "float32").roots()
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


def test_terms_of_reads_in_different_orders_jump() -> None:
    chain = "Y[i] = A[i,j,k]*{}*B[j,k]"
    alike, turned = (
        work(chain.format("C[i,j,k]"), A=3, B=2, C=3),
        work(chain.format("C[k,j,i]"), A=3, B=2, C=3),
    )
    assert alike.jumps == 0
    assert turned.jumps == N**3


def test_the_shape_is_that_of_the_slowest_product() -> None:
    """One row of each matrix is a product at a small part of the rate."""
    found = work("Y[i,m] = A[b,i,k]*B[b,k]*C[i,b,m]", A=3, B=2, C=3)
    assert 1 in found.shape[1:3]
