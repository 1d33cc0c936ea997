"""Machine code as functions of Python, and the flat calls of kernels."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from numba import cfunc, types
from torch.overrides import TorchFunctionMode

from einderive.eops.cpu_kernels.build import built, compiled_code
from einderive.eops.cpu_kernels.calls.entry import RELEASED, ROOM, Code, _method, entry
from einderive.eops.cpu_kernels.calls.launch import Launched, Result, launcher
from einderive.eops.cpu_kernels.calls.threads import WORK
from einderive.eops.cpu_kernels.words import machine
from einderive.ta.notation.parse import parse
from tests.eops.compiled import compiled

NUMBERS = (-5, 1 << 62, 0, -(1 << 63))
WORKS = {"held": 0.0, "released": float(RELEASED), "together": float(WORK)}


def copying() -> Code:
    """Code that writes entries 1 to 5 of its data to the place that entry 0 says."""
    place = machine.pointer("int64")

    @cfunc(types.void(machine.DATA))
    def copy(data: Any) -> None:
        target = place(data, 0)
        for k in range(5):
            machine.store(target, k, machine.load(data, k + 1))

    return Code(copy.address, copy)


@pytest.mark.parametrize("kind", WORKS)
@pytest.mark.parametrize("threads", [1, 2])
def test_code_sees_the_integers(kind: str, threads: int) -> None:
    run = entry(copying(), WORKS[kind], several=kind == "together", most=4)
    usual = torch.get_num_threads()
    target = np.zeros(5, np.int64)
    try:
        torch.set_num_threads(threads)
        run(target.ctypes.data, *NUMBERS, None)
    finally:
        torch.set_num_threads(usual)
    assert target[:4].tolist() == [*NUMBERS]
    assert target[4] % 8 == 0
    assert target[4] not in (0, target.ctypes.data)


@pytest.mark.parametrize("kind", WORKS)
def test_what_functions_point_to_outlives_the_cache(kind: str) -> None:
    run = entry(copying(), WORKS["held"], several=False)
    made = weakref.ref(_method(kind))
    _method.cache_clear()
    gc.collect()
    assert made() is not None
    target = np.zeros(5, np.int64)
    run(target.ctypes.data, *NUMBERS, None)
    assert target[:4].tolist() == [*NUMBERS]


@pytest.mark.parametrize("team", [0, 128, ROOM + 1])
def test_a_launch_gives_addresses_and_numbers(team: int) -> None:
    given: list[tuple[int | None, ...]] = []
    results = (Result((2, 3), torch.float32), Result((), torch.int64))
    launch = launcher(Launched(lambda *n: given.append(n), 2, results, team, (7, -8)))
    a, b = torch.zeros(3), torch.zeros(4)
    first, second = launch(a, b)
    assert (first.shape, first.dtype, first.stride()) == ((2, 3), torch.float32, (3, 1))
    assert (second.shape, second.dtype) == ((), torch.int64)
    addresses = [t.data_ptr() for t in (a, b, first, second)]
    (found,) = given
    assert found[:4] == tuple(addresses)
    assert found[-2:] == (7, -8)
    assert len(found) == 6 + bool(team)
    if team:
        assert (found[4] is None) == (team <= ROOM)


def test_a_mode_of_torch_is_asked() -> None:
    asked: list[tuple[torch.Tensor, ...]] = []

    def otherwise(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        asked.append(tensors)
        return tensors

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*args, **(kwargs or {}))

    (scope,) = parse("Y[i] = exp(A[i])", {"A": (5,)}, "float32").roots()
    data = torch.rand(5)
    launch = compiled(scope).launcher(otherwise)
    torch.testing.assert_close(launch(data)[0], data.exp())
    assert not asked
    with Mode():
        assert launch(data)[0] is data
    assert len(asked) == 1


def test_code_stays_as_long_as_its_call() -> None:
    (scope,) = parse("Y[i] = exp(A[i]) + 11", {"A": (5,)}, "float32").roots()
    launch = compiled(scope).launcher()
    built.cache_clear()
    compiled_code.cache_clear()
    gc.collect()
    data = torch.rand(5)
    torch.testing.assert_close(launch(data)[0], data.exp() + 11)


def test_results_in_inference_mode_are_inference_tensors() -> None:
    (scope,) = parse("Y[i] = exp(A[i])", {"A": (5,)}, "float32").roots()
    kernel, data = compiled(scope), torch.rand(5)
    with torch.inference_mode():
        assert kernel(data)[0].is_inference()
    assert not kernel(data)[0].is_inference()


def test_many_totals_need_memory_of_their_own() -> None:
    """Each thread's totals lie on the stack of the caller, and beyond ROOM in a tensor."""
    (scope,) = parse("Y[] = sum[i](A[i])", {"A": (1 << 20,)}, "float32").roots()
    kernel, data = compiled(scope), torch.rand(1 << 20)
    assert kernel.plan.together
    assert 0 < kernel.team <= ROOM
    usual = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            torch.testing.assert_close(kernel(data)[0], data.sum(), rtol=1e-5, atol=0)
    finally:
        torch.set_num_threads(usual)
