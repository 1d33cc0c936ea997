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


@pytest.mark.parametrize(
    ("statement", "worth"),
    [
        ("Y[i,j] = A[j,i]", False),
        ("Y[i,j] = A[i+2,j] where i in 0:500", False),
        ("Y[i,j,k] = A[i,20*j+k] where j in 0:15, k in 0:20", False),
        ("Y[i] = A[i//300,i%300] where i in 0:3000", False),
        ("Y[i,j] = A[i//2,j//2] where i in 0:1024, j in 0:600", True),
        ("Y[i,j] = A[i,j-1] where i in 0:512, j in 0:300", True),
    ],
)
def test_what_is_no_view_is_copied_by_a_loop(statement: str, worth: bool) -> None:
    (root,) = parse(statement, {"A": SHAPES["A"]}).roots()
    assert worth_compiling(Task(root, "cpu", compiled=True)) is worth
