"""Memory of large results: used again when nothing refers to it, and not before."""

from __future__ import annotations

import gc
import mmap
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from einderive.eops import result_memory
from einderive.eops.cpu_kernels.calls.launch import Launched, Result, launcher
from einderive.eops.result_memory import AHEAD, HELD, LEAST, STEP, kept, made, maker, most_kept
from einderive.frontend.running.unwritten import Marked

COUNT = LEAST // 4
SHAPE = (2, COUNT // 2)

pytestmark = pytest.mark.skipif(
    most_kept() < 64 * LEAST, reason="the system has no huge pages, or little memory"
)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What other tests left does not count."""
    gc.collect()
    for name in ("_FREE", "_USED", "_CAME_BACK"):
        monkeypatch.setattr(result_memory, name, type(getattr(result_memory, name))())
    yield
    gc.collect()


def new(shape: tuple[int, ...] = SHAPE) -> torch.Tensor:
    found = maker(shape, torch.float32)
    assert found is not None
    return found()


def run_alone(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


def used() -> None:
    """One result is made and dropped, so that the next one has huge pages."""
    new()


def test_small_results_are_torchs() -> None:
    for shape in ((COUNT - 1,), (0, COUNT), (most_kept() // 4,)):
        assert maker(shape, torch.float32) is None
    assert maker((COUNT // 2,), torch.float64) is not None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.bool])
def test_a_result_is_a_dense_tensor(dtype: torch.dtype) -> None:
    shape = (3, 5, LEAST // 8)
    make = maker(shape, dtype)
    assert make is not None
    found, usual = make(), torch.empty(shape, dtype=dtype)
    assert (found.shape, found.dtype, found.stride()) == (usual.shape, dtype, usual.stride())
    assert (found.storage_offset(), found._base) == (0, None)
    assert found.untyped_storage().nbytes() == usual.untyped_storage().nbytes()
    assert found.data_ptr() % mmap.PAGESIZE == 0
    assert torch.equal(found.fill_(1), usual.fill_(1))


def test_the_first_has_usual_pages_and_the_second_is_used_again() -> None:
    before = made()
    used()
    assert kept() == 0
    second = new()
    place = second.data_ptr()
    del second
    assert kept() == LEAST
    third = new((COUNT,))
    assert third.data_ptr() == place
    assert (made(), kept()) == (before + 2, 0)


def test_results_of_nearly_equal_sizes_share_memory() -> None:
    new((COUNT + 1,))
    place = new((COUNT + 1,)).data_ptr()
    assert new((COUNT + STEP // 4,)).data_ptr() == place
    assert new((COUNT + STEP // 4 + 1,)).data_ptr() != place
    assert new().data_ptr() != place
    assert kept() == LEAST + STEP


HOLDING: dict[str, Callable[[torch.Tensor], Any]] = {
    "a view": lambda result: result[1:, ::2],
    "an array": lambda result: result.numpy()[1:],
    "another library": torch.from_dlpack,
    "the storage": lambda result: result.untyped_storage(),
}


@pytest.mark.parametrize("kind", HOLDING)
def test_what_something_refers_to_is_not_used_again(kind: str) -> None:
    used()
    result = new().fill_(7)
    place, held = result.data_ptr(), HOLDING[kind](result)
    del result
    others = [new().fill_(1) for _ in range(3)]
    assert place not in [other.data_ptr() for other in others]
    assert kept() == 0
    if kind == "the storage":
        held = torch.empty(0).set_(held)
    assert (held == 7).all()
    del held
    assert kept() == LEAST


def test_a_gradient_may_be_added_to_a_result() -> None:
    weights = torch.ones(SHAPE, requires_grad=True)
    with torch.no_grad():
        result = new().fill_(2)
    result += weights
    result.sum().backward()
    assert weights.grad is not None
    assert (weights.grad == 1).all()


def test_what_a_gradient_needs_is_not_used_again() -> None:
    used()
    result = new().fill_(7)
    weights = torch.ones(SHAPE, requires_grad=True)
    total = (weights * result).sum()
    del result
    others = [new().fill_(1) for _ in range(3)]
    total.backward()
    assert weights.grad is not None
    assert (weights.grad == 7).all()
    del others


def test_results_that_are_held_have_usual_pages() -> None:
    """But for a few, and those that came back."""
    for _ in range(2):
        held = [new() for _ in range(4)]
        huge = [use.block for use in result_memory._USED.values() if use.block.huge]
        assert len({tensor.data_ptr() for tensor in held}) == 4
        del held
    assert len(huge) == AHEAD
    assert kept() == AHEAD * LEAST
    held = [new() for _ in range(AHEAD + 4)]
    assert sum(use.block.huge for use in result_memory._USED.values()) == 2 * AHEAD
    del held


def test_no_more_is_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What came back first is given to the system."""
    sizes = [COUNT + k * STEP // 4 for k in range(4)]
    for size in sizes:
        new((size,))
    held = [new((size,)) for size in sizes]
    monkeypatch.setattr(result_memory, "most_kept", lambda: 2 * LEAST + 5 * STEP)
    for steps in (4, 9, 11, 13):
        del held[0]
        assert kept() == steps * STEP
    assert [block.size for block in result_memory._FREE] == [6 * STEP, 7 * STEP]


def test_what_lies_unused_is_marked_as_free_but_for_a_part() -> None:
    """What was freed last is not."""
    shape = (HELD // 4 // 2,)
    for _ in range(3):
        new(shape)
    held = [new(shape) for _ in range(3)]
    while held:
        del held[0]
    assert [block.marked for block in result_memory._FREE] == [False, False]
    new()
    last = new()
    del last
    assert [block.marked for block in result_memory._FREE] == [True, False, False]
    assert new(shape).fill_(1).sum() == shape[0]
    taken = [new(shape), new(shape)]
    assert not any(use.block.marked for use in result_memory._USED.values())
    del taken


def test_without_memory_torch_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuses)
    assert new().fill_(1).sum() == COUNT
    assert not result_memory._USED


@pytest.mark.parametrize("text", ["always madvise [never]\n", None])
def test_without_huge_pages_nothing_is_kept(
    text: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "enabled"
    if text is not None:
        place.write_text(text)
    monkeypatch.setattr(result_memory, "Path", lambda _: place)
    assert most_kept.__wrapped__() == 0


def test_a_forked_process_has_memory_of_its_own() -> None:
    used()
    result = new().fill_(3)
    if (child := os.fork()) == 0:
        result.fill_(4)
        os._exit(0 if (result == 4).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (result == 3).all()


def test_a_result_that_is_shared_leaves_its_memory() -> None:
    used()
    result = new().fill_(5)
    result.share_memory_()
    assert kept() == LEAST
    assert (result == 5).all()
    assert new().fill_(6).data_ptr() != result.data_ptr()
    assert (result == 5).all()


def test_threads_get_memory_of_their_own() -> None:
    def work(seed: int) -> int:
        draw, held, wrong = random.Random(seed), list[tuple[int, torch.Tensor]](), 0
        for step in range(30):
            number = 1000 * seed + step
            held.append((number, new().fill_(number)))
            if draw.random() < 0.7 or len(held) > 3:
                number, tensor = held.pop(draw.randrange(len(held)))
                wrong += not bool((tensor == number).all())
                del tensor
        return wrong + sum(not bool((tensor == number).all()) for number, tensor in held)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [0, 0, 0, 0]
    assert not result_memory._USED
    assert kept() % LEAST == 0


def test_kernels_write_large_results_there() -> None:
    given: list[int] = []
    results = (Result(SHAPE, torch.float32), Result((3,), torch.float32))
    launched = Launched(lambda *n: given.extend(n), 0, results, 0, ())
    launch = launcher(launched)
    launch()
    first = launch()
    place = first[0].data_ptr()
    assert [tensor.data_ptr() for tensor in first] == given[-2:]
    del first
    assert launch()[0].data_ptr() == place
    assert launcher(launched, told=True)()[0].data_ptr() == place
    with Marked():
        assert launcher(launched, told=True)()[0].isnan().all()


COLLECTED = """
import gc
import torch
from einderive.eops.result_memory import LEAST, maker
make = maker((LEAST,), torch.float32)
make()
make()
class Late:
    def __del__(self):
        global taken
        taken = make()
def cycle():
    late = Late()
    late.itself = late
held = [[] for _ in range(200)]  # CPython has no lists left to use again
cycle()
gc.set_threshold(1)
found = make()
gc.set_threshold(700)
print(taken.data_ptr() != found.data_ptr())
"""


def test_a_collection_of_garbage_may_come_in_between() -> None:
    done = run_alone(COLLECTED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_use_whose_callback_was_interrupted_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    used()
    held = new()
    with monkeypatch.context() as patch:
        patch.setattr(result_memory, "_let_go", lambda use: None)
        used()  # an interrupted one
    assert len(result_memory._USED) == 2
    other = new((COUNT + STEP,))
    assert len(result_memory._USED) == 2
    del held, other
    assert not result_memory._USED


def test_what_lies_unused_is_given_up_when_there_is_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used()
    used()
    assert kept() == LEAST

    def refuses(*_: object, **__: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuses)
    assert new((2 * COUNT,)).fill_(1).sum() == 2 * COUNT
    assert kept() == 0


def test_nothing_is_kept_where_addresses_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 40, 1 << 40))
    assert most_kept.__wrapped__() == 0


AT_THE_END = """
import torch
from einderive.eops.result_memory import LEAST, maker
make = maker((LEAST,), torch.float32)
make()
held = make()
other = [make()]
other.append(other)
"""


def test_results_may_live_as_long_as_the_process() -> None:
    done = run_alone(AT_THE_END)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
