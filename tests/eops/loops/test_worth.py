"""Which stages are compiled into loops: those that no product of matrices computes."""

import pytest

from einderive.eops.back_ends.cpu_kernels import worth_compiling
from einderive.eops.back_ends.task import Task
from einderive.ta.notation.parse import parse

SHAPES = {"A": (512, 300), "B": (512, 300)}


@pytest.mark.parametrize(
    ("body", "worth"),
    [
        ("sum[k](A[i,k]*B[j,k])", False),
        ("sum[k](exp(A[i,k])*B[j,k])", False),  # of a matrix that is computed first
        ("sum[k](where(i <= j, A[i,k]*B[j,k], 0))", False),
        ("max[k](A[i,k]+B[j,k])", True),
        ("sum[k](A[i,k] < B[j,k])", True),
        ("sum[k](abs(A[i,k]-B[j,k]))", True),
    ],
)
def test_stages_with_far_more_operations_than_elements(body: str, worth: bool) -> None:
    (root,) = parse(f"Y[i,j] = {body}", SHAPES).roots()
    assert worth_compiling(Task(root, "cpu", compiled=True)) is worth
