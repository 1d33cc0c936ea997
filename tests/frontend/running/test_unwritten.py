"""What a program leaves unwritten is found out, whatever the memory holds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.back_ends.task import Task
from einderive.eops.opaque import opaque
from einderive.eops.torch_views import blocked as torch_blocked
from einderive.eops.torch_views import contract as torch_contract
from einderive.eops.torch_views.stage import lower
from einderive.eops.triton_kernels import build as triton_build
from einderive.eops.triton_kernels.build import Kernel, build
from einderive.frontend.accuracy import accept
from einderive.frontend.running import execute
from einderive.frontend.running.unwritten import ALLOCATIONS, Marked
from tests.eops.compiled import compiled
from tests.frontend.races import nobody_is_slow

Run = Callable[[Any], torch.Tensor]
ALLOCATING: dict[str, Callable[[torch.dtype], torch.Tensor]] = {
    "empty": lambda dtype: torch.empty(3, 2, dtype=dtype),
    "empty_like": lambda dtype: torch.empty_like(torch.ones(3, 2, dtype=dtype)),
    "empty_permuted": lambda dtype: torch.empty_permuted((3, 2), (1, 0), dtype=dtype),
    "empty_strided": lambda dtype: torch.empty_strided((3, 2), (1, 3), dtype=dtype),
    "new_empty": lambda dtype: torch.ones(1, dtype=dtype).new_empty(3, 2),
    "new_empty_strided": lambda dtype: torch.ones(1, dtype=dtype).new_empty_strided((3, 2), (1, 3)),
}


def test_every_allocation_is_tried() -> None:
    assert sorted(ALLOCATING) == sorted(call.__name__ for call in ALLOCATIONS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.complex64])
@pytest.mark.parametrize("name", ALLOCATING)
def test_allocations_hold_nan(name: str, dtype: torch.dtype) -> None:
    with Marked():
        assert ALLOCATING[name](dtype).isnan().all()
        assert not torch.zeros(3, dtype=dtype).isnan().any()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.bool])
@pytest.mark.parametrize("name", ALLOCATING)
def test_allocations_of_integers_hold_the_extremes(name: str, dtype: torch.dtype) -> None:
    least, greatest = (
        (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    )
    with Marked():
        assert ALLOCATING[name](dtype).tolist() == [[least, greatest]] * 3


def test_only_within() -> None:
    held = torch.ones(3)
    with pytest.raises(IndexError), Marked():
        torch.empty(3, out=held)[3]
    assert held.isnan().all()
    held = torch.ones(3)
    assert torch.equal(torch.empty(3, out=held), torch.ones(3))


def last_left_out(run: Run) -> Run:
    """The stage with its last element unwritten, in memory that happens to hold the right value,
    as it does where an allocator gives the memory of an earlier run."""

    def broken(buffers: Any) -> torch.Tensor:
        right = run(buffers).contiguous()
        found = torch.empty(right.shape, dtype=right.dtype, out=right.clone())
        found.view(-1)[:-1] = right.view(-1)[:-1]
        return found

    return broken


TRIED: list[tuple[str, dict[str, Any]]] = [
    ("Y[i,l] = A[i,j]*B[j,k]*C[k,l]", {"A": (8, 9), "B": (9, 8), "C": (8, 2)}),
    ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (8, 9), "B": (7, 9)}),
    (
        "Y[i,l] = A[i,j]*B[j,k]*C[k,l]",
        {"A": (8, 9), "B": (9, 8), "C": (8, 2), "dtypes": "int32"},
    ),
]


@pytest.mark.parametrize(("text", "options"), TRIED)
def test_a_program_that_leaves_an_element_unwritten_is_refused(
    text: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ed.derive(text, target="cpu", budget=ed.Budget(states=300), **options)
    lowered = execute.lowered

    def broken(task: Task) -> tuple[Run, str]:
        run, word = lowered(task)
        return last_left_out(run), word

    monkeypatch.setattr(execute, "lowered", broken)
    nobody_is_slow(monkeypatch)
    tried = found.compile(seconds=0.01)
    derived = [trial for trial in tried.trials if trial.plan is not None]
    assert derived
    assert tried.chosen is tried.baseline
    assert all(trial.verdict.startswith("refused: error") for trial in derived)
    monkeypatch.setattr(accept, "Marked", nullcontext)
    passed = found.compile(seconds=0.01)
    assert any(trial.verdict == "accepted" for trial in passed.trials)


def no_write(*_: object, **__: object) -> None:
    pass


def test_what_the_stages_allocate_is_marked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each kind of stage with its writing left out."""
    monkeypatch.setattr(torch_contract, "_product_into", no_write)
    monkeypatch.setattr(torch_blocked.BlockedStage, "_store", no_write)
    monkeypatch.setattr(torch_blocked, "REDUCED_BLOCK", 8)
    monkeypatch.setattr(triton_build, "interpreting", lambda: True)
    monkeypatch.setattr(Kernel, "launch", no_write)
    monkeypatch.setattr(torch_contract, "LEAST_SLICE", 1)
    texts = {
        "Y[b,c,i,j] = A[c,b,i,k]*B[b,c,k,j]": {"A": (2, 3, 3, 4), "B": (3, 2, 4, 5)},
        "Y[i,j] = max[k](exp(A[i,k])*B[k,j])": {"A": (3, 4), "B": (4, 5)},
    }
    for text, shapes in texts.items():
        program = ed.parse(text, **shapes)
        (root,) = program.roots()
        inputs: dict[Any, torch.Tensor] = {
            tensor: torch.ones(tensor.shape) for tensor in program.inputs
        }
        kernel = build(root, cache=tmp_path)
        with Marked():
            assert lower(root)(inputs).isnan().all()
            assert kernel(*(inputs[source] for source in kernel.plan.sources)).isnan().all()


def test_what_compiled_loops_allocate_is_marked() -> None:
    (root,) = ed.parse("Y[i] = A[i] + 1", A=(3,)).roots()
    kernel = compiled(root)
    with Marked():
        assert kernel(torch.ones(3))[0].tolist() == [2, 2, 2]
        silent = replace(kernel)
        silent.__dict__["run"] = no_write  # in the place of the cached one
        assert silent(torch.ones(3))[0].isnan().all()


def test_what_opaque_functions_allocate_is_marked() -> None:
    @opaque
    def allocate(like: torch.Tensor) -> torch.Tensor:
        return torch.empty(like.shape)

    with Marked():
        assert allocate(torch.ones(3)).isnan().all()
