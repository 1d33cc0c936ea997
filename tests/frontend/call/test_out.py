"""Results written to memory that the caller gives, and converted to the type asked for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import as_strided

import einderive as ed
from einderive.ta.errors import OperandError

MM = "Y[i,j] = A[i,k]*B[k,j]"
A = np.arange(4, dtype=np.float32)
MEMORY = np.zeros(8, np.float32)
with torch.inference_mode():
    INFERENCE = torch.zeros(4)


@cache
def two() -> ed.CompiledFunction:
    return ed.compile("Y[i] = A[i]*2; Z[i] = A[i]*3", A=(4,), target="cpu", seconds=0.01)


@pytest.mark.parametrize(
    ("operand", "out", "message"),
    [
        (A, (MEMORY[:4], MEMORY[2:6]), "shares memory with another"),
        (A, (as_strided(MEMORY, (4,), (0,)), MEMORY[4:]), "elements that share memory"),
        (A, (np.ma.masked_array(MEMORY[:4], mask=True), MEMORY[4:]), "masked"),
        (torch.tensor(A), (torch.zeros(4),) * 2, "shares memory with another"),
        (torch.tensor(A), (torch.zeros(4), torch.zeros(1).expand(4)), "elements that share"),
        (torch.tensor(A), (torch.zeros(4), INFERENCE), "inference mode"),
        (torch.tensor(A), (MEMORY[:4], MEMORY[4:]), "is an array of float32 of shape 4, and"),
    ],
)
def test_memory_that_cannot_hold_the_results(operand: Any, out: Any, message: str) -> None:
    with pytest.raises(OperandError, match=message):
        two()(operand, out=out)
    assert not any(np.asarray(y).any() for y in out)


def test_parts_of_one_memory_hold_the_results() -> None:
    memory = np.zeros((4, 2), np.float32)
    two()(A, out=(memory[::-1, 0], memory[:, 1]))
    np.testing.assert_array_equal(memory, np.stack([2 * A[::-1], 3 * A], axis=1))
    tensor = torch.zeros(4, 2)
    two()(torch.tensor(A), out=(tensor[:, 0], tensor[:, 1]))
    np.testing.assert_array_equal(tensor, np.stack([2 * A, 3 * A], axis=1))


def test_operands_may_take_the_results() -> None:
    f = ed.compile(MM, A=(3, 3), B=(3, 3), target="cpu", seconds=0.01)
    a, b = torch.randn(2, 3, 3)
    for _ in range(2):
        wanted = a @ b
        assert f(a, b, out=a) is a
        torch.testing.assert_close(a, wanted)


def test_other_operands_types_change_nothing_about_the_type_asked_for() -> None:
    f = ed.compile(MM, A=(3, 3), B=(3, 3), target="cpu", seconds=0.01, output="float64")
    for dtype in (torch.float16, torch.float32, torch.float64):
        a, b = torch.randn(2, 3, 3, dtype=dtype)
        for _ in range(2):
            assert f(a, b).dtype is torch.float64
