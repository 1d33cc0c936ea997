"""A stage that reads integers alone has the digits of the program's inputs where it leaves the
integers, whatever program was chosen: a mean of bools beside a float64 is a float64."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.back_ends import lowered
from einderive.eops.back_ends.task import Task
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.drafts.group import Group
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled

INTEGERS = {"I": torch.tensor([1, 2, 3, 4, 5, 7, 7]), "J": torch.tensor([1, 2, 3, 0, 0, 0, 7])}
FORMULAS = [
    ("S = sum[i](I[i] == J[i])/7; Y = S + Z[0]", 4),
    ("S = sum[i](I[i] == J[i])/7; T = sum[i](Z[i]); Y = S*(1 + T)", 4),
    ("Y = mean[i](argmax[k](M[i,k]) == J[i])", 4),
    ("Y[i] = I[i]/7 + 3/7 - J[i]/7 + 0*Z[i] where i in 0:1", 3),
]
"""With how many sevenths they are."""


@sampled(2)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("text", "sevenths"), FORMULAS)
def test_it_has_the_digits_of_the_inputs(text: str, sevenths: int, dtype: torch.dtype) -> None:
    given: dict[str, Any] = {**INTEGERS, "Z": torch.zeros(7, dtype=dtype)}
    given["M"] = torch.eye(7, 8, dtype=dtype).roll(1, 1)  # the maxima are at 1, 2, ... 7
    used = {name: value for name, value in given.items() if f"{name}[" in text}
    types = {name: str(value.dtype).removeprefix("torch.") for name, value in used.items()}
    shapes = {name: tuple(value.shape) for name, value in used.items()}
    function = ed.compile(text, budget=ed.Budget(states=20), dtypes=types, **shapes)
    found = function(**used)
    assert found.dtype == dtype
    wanted = torch.tensor(sevenths / 7, dtype=dtype)
    few = 2 * torch.finfo(dtype).eps
    torch.testing.assert_close(found.reshape(()), wanted, rtol=few, atol=0)


def test_the_inputs_of_the_program_count_where_the_group_reads_integers_alone() -> None:
    (root,) = parse("S = sum[i](I[i])/7", {"I": (7,)}, "int64").roots()
    for inputs, compute in (
        ([], "float32"),
        ([torch.float64, torch.int64], "float64"),
        ([torch.float16], "float32"),
    ):
        typing = typing_of(Group.alone(root), [torch.int64], inputs)
        assert typing is not None
        assert typing.stages[0].compute == compute


def test_an_input_that_another_stage_of_the_kernel_reads_counts() -> None:
    shapes, types = {"I": (7,), "Z": (7,)}, {"I": "int64", "Z": "float64"}
    (root,) = parse("S = sum[i](I[i])/7; Y[i] = S + Z[i]", shapes, types).roots()
    typing = typing_of(Group(tuple(stages(root)), (root,)), [torch.int64, torch.float64])
    assert typing is not None
    assert [each.compute for each in typing.stages] == ["int64", "float64", "float64"]


def test_a_kernel_of_integers_alone_computes_in_the_type_of_the_inputs() -> None:
    (root,) = parse("S[i] = I[i]/7", {"I": (3,)}, "int64").roots()
    (tensor,) = input_tensors(root)
    for inputs, dtype in ((("int64", "float64"), torch.float64), (("int64",), torch.float32)):
        run, word = lowered(Task(root, "cpu", compiled=True, inputs=inputs))
        assert word == "eOperator (compiled loops)"
        found = run({tensor: torch.tensor([1, 2, 3])})
        assert found.dtype == dtype
        torch.testing.assert_close(found, torch.tensor([1, 2, 3], dtype=dtype) / 7)
