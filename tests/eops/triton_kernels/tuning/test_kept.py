"""Times of configurations on disk: a process that finds them times nothing, and none is trusted
where it is of another kernel, device or version, or damaged.  Device and clock are made up."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from einderive.eops.cache_folder import VARIABLE
from einderive.eops.triton_kernels import build as building
from einderive.eops.triton_kernels.build import Kernel, build
from einderive.eops.triton_kernels.tuning import kept as keeping
from einderive.eops.triton_kernels.tuning.blocks import Config
from einderive.ta.notation.parse import parse
from tests.prepared import ROOT, python

pytest.importorskip("triton")

TEXT = "Y[i] = X[i] + 1"
SIZE = 1 << 20
SECONDS = (4e-6, 2e-6, 3e-6, 5e-6)


def made(text: str = TEXT) -> Kernel:
    """The kernel as a new process would make it."""
    (scope,) = parse(text, {"X": (SIZE,)}, "float32").roots()
    return build(scope)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path / "configurations"


@pytest.fixture(autouse=True)
def timed(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """The configurations that were timed so far, on a device that is not there."""
    timed: list[Config] = []

    def seconds(self: Kernel, config: Config, *_: object) -> float:
        timed.append(config)
        return SECONDS[self.plan.configs.index(config)]

    monkeypatch.setattr(Kernel, "_seconds", seconds)
    monkeypatch.setattr(torch, "empty_like", lambda tensor: tensor)
    on(monkeypatch, "a device", (9, 0))
    return timed


def on(monkeypatch: pytest.MonkeyPatch, name: str, capability: tuple[int, int]) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda *_: name)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: capability)


def chosen(kernel: Kernel, start: int = 64) -> int:
    """The number of the configuration for an operand that starts there."""
    tensor: Any = SimpleNamespace(device=torch.device("cuda"), data_ptr=lambda: start)
    config = kernel.config([tensor], [tensor])
    assert kernel.chosen_config() == config
    return kernel.plan.configs.index(config)


def test_the_next_process_times_nothing(place: Path, timed: list[Config]) -> None:
    first = made()
    assert len(first.plan.configs) == len(SECONDS)
    assert [chosen(first), chosen(first)] == [1, 1]
    assert timed == [*first.plan.configs]
    again = made()
    assert chosen(again) == 1
    assert len(timed) == len(SECONDS)
    assert again.tried == first.tried
    (path,) = place.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["fastest"] == str(first.plan.configs[1])


def test_so_does_a_real_process(place: Path) -> None:
    program = "\n".join(
        [
            "import pytest",
            "from tests.eops.triton_kernels.tuning import test_kept as case",
            "with pytest.MonkeyPatch.context() as patch:",
            "    timed = case.timed.__wrapped__(patch)",
            "    print(case.chosen(case.made()), len(timed))",
        ]
    )
    told = [
        python("-c", program, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
        for _ in range(2)
    ]
    assert [one.stderr for one in told] == ["", ""]
    assert [one.stdout for one in told] == [f"1 {len(SECONDS)}\n", "1 0\n"]


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: on(patch, "another device", (9, 0)),
        lambda patch: on(patch, "a device", (10, 0)),
        lambda patch: patch.setattr(keeping, "_surroundings", lambda: ("another Triton",)),
    ],
    ids=["device", "capability", "versions"],
)
@pytest.mark.usefixtures("place")
def test_elsewhere_they_are_timed_anew(
    change: Callable[[pytest.MonkeyPatch], None],
    timed: list[Config],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen(made())
    change(monkeypatch)
    chosen(made())
    assert len(timed) == 2 * len(SECONDS)


@pytest.mark.usefixtures("place")
def test_another_kernel_is_timed_anew(timed: list[Config], monkeypatch: pytest.MonkeyPatch) -> None:
    chosen(made())
    chosen(made("Y[i] = X[i] + 2"))
    assert len(timed) == 2 * len(SECONDS)
    other = made()
    fewer = other.plan.configs[::-1]
    object.__setattr__(other.plan, "configs", fewer)
    assert fewer[chosen(other)] != made().plan.configs[1]
    assert len(timed) == 3 * len(SECONDS)


@pytest.mark.usefixtures("place")
def test_operands_that_are_not_aligned_are_timed_apart(timed: list[Config]) -> None:
    kernel = made()
    chosen(kernel)
    chosen(kernel, 68)
    assert len(timed) == 2 * len(SECONDS)
    assert len(kernel.chosen) == 2


def test_nothing_is_timed_in_the_capture_of_a_graph(
    place: Path, timed: list[Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "capturing", lambda: True)
    kernel = made()
    assert chosen(kernel) == 0
    assert not timed
    assert not kernel.chosen
    monkeypatch.setattr(building, "capturing", lambda: False)
    assert chosen(kernel) == 1
    monkeypatch.setattr(building, "capturing", lambda: True)
    assert chosen(kernel) == 1
    assert chosen(kernel, 68) == 1  # as good a guess as there is
    assert len(timed) == len(SECONDS)
    assert len(list(place.iterdir())) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"seconds": 3}',
        '{"seconds": {}}',
        "[" * 100_000,
        b"\xff\xfe".decode("latin-1"),
    ],
)
def test_a_damaged_file_is_as_good_as_none(text: str, place: Path, timed: list[Config]) -> None:
    chosen(made())
    (path,) = place.iterdir()
    path.write_text(text, "latin-1")
    assert chosen(made()) == 1
    assert chosen(made()) == 1  # it was written anew
    assert len(timed) == 2 * len(SECONDS)


@pytest.mark.parametrize("seconds", [None, "soon", -1, 0, math.nan])
def test_times_that_are_none_are_not_believed(
    seconds: object, place: Path, timed: list[Config]
) -> None:
    chosen(made())
    (path,) = place.iterdir()
    data = json.loads(path.read_text())
    data["seconds"] = dict.fromkeys(data["seconds"], seconds)
    path.write_text(json.dumps(data))
    assert chosen(made()) == 1
    assert len(timed) == 2 * len(SECONDS)


def test_a_configuration_that_cannot_run_is_not_chosen(place: Path) -> None:
    times = dict(zip("abc", (math.inf, 2e-6, 1e-6), strict=True))
    keeping.keep("one", times)
    assert keeping.kept("one", "abc") == (*times.values(),)
    assert keeping.kept("one", "abd") is None
    keeping.keep("two", {"a": math.inf})
    assert [path.name for path in place.iterdir()] == ["one"]


@pytest.mark.parametrize("said", ["off", "a file"])
def test_nothing_is_kept_where_it_is_off_or_cannot_be(
    said: str, tmp_path: Path, timed: list[Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv(VARIABLE, said if said == "off" else str(tmp_path / said))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [chosen(made()), chosen(made())] == [1, 1]
    assert len(timed) == 2 * len(SECONDS)
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


def test_a_folder_that_others_may_write_to_is_not_read(place: Path, timed: list[Config]) -> None:
    chosen(made())
    place.chmod(0o777)
    chosen(made())
    assert len(timed) == 2 * len(SECONDS)
    place.chmod(0o700)
    chosen(made())
    assert len(timed) == 2 * len(SECONDS)


def test_the_oldest_are_deleted_where_there_are_too_many(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep(names: Sequence[str]) -> None:
        for number, name in enumerate(names):
            keeping.keep(name, {"a": 1e-6})
            os.utime(place / name, (number, number))

    keep("x")
    monkeypatch.setattr(keeping, "MOST_BYTES", 4 * (place / "x").stat().st_size)
    keep("abc")
    assert keeping.kept("x", "a") == (1e-6,)  # it is young again
    keeping.keep("d", {"a": 1e-6})
    assert {path.name for path in place.iterdir()} == {"x", "d"}
