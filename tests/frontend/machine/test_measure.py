"""The profile, measured by clocks that count: what is known afterwards, and what is lost when it
ends early."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count, repeat
from math import inf
from pathlib import Path
from typing import Any

import pytest

from einderive.derivations.matching.cost import CPU, MACHINES
from einderive.derivations.matching.machine import (
    ANY,
    KERNEL,
    LAYOUT,
    NUMBER,
    VIEW,
    Machine,
    Table,
    constant,
)
from einderive.derivations.matching.profile import from_data, to_data
from einderive.eops.cache_folder import VARIABLE
from einderive.eops.library import OPERATORS
from einderive.frontend.machine.key import KIND, profile_key
from einderive.frontend.machine.measure import Grid, _Probing, measured
from einderive.frontend.machine.small import SMALL, instance
from einderive.frontend.machine.stored import keep, profile_digest, profile_of
from einderive.frontend.memory.kept import store
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.operator import Work

TINY = Grid(
    (1 << 6, 1 << 8),
    ((1, 2), (1, 4), (1, 4), (1, 4)),
    ((1, 2), (16,), (1, 2), (9,)),
    ((1, 2), (16,), (1, 2), (3,)),
    ((1,), (8,), (1, 2), (27,)),
    ((2,), (16,), (1,), (9,)),
    ((1,), (16,), (1, 2), (9,)),
    ((4,), (4,)),
    ((4,), (2,)),
    ((4,), (4,)),
    ((4,), (2,)),
    ((1,), (4,)),
    2e8,
    1,
)
Run = Callable[[], object]


def steady(run: Run, seconds: float) -> float:
    """Every call takes as long, and is run once."""
    run()
    return 1e-5


def never() -> float:
    return 0.0


def test_everything_is_measured() -> None:
    found = measured(CPU, 1.0, TINY, time=steady, clock=never)
    assert (found.missing, found.interrupted) == ((), False)
    machine = found.machine
    assert machine.origin == "measured"
    assert machine.bandwidth.keys() == {"dense", "strided", "broadcast", "gathered", "rows"}
    assert machine.rates.keys() == {
        "matmul",
        "convolution",
        "convolution of images",
        "convolution1d",
        "convolution1d of images",
        "convolution3d",
        "depthwise convolution",
        "transposed convolution",
        "vector",
        "window",
        "extreme window",
        "reduction",
        "reduction of rows",
        "reduction of pieces",
        "extreme",
        "extreme of rows",
        "extreme of pieces",
        "softmax",
        "softmax of rows",
        "fourier",
    }
    functions = {name for name, function in FUNCTIONS.items() if function.arity}
    assert machine.functions.keys() - {ANY} == {*functions, "where"}
    operators = {operator.name for operator in OPERATORS} - {"view"}
    assert machine.launches.keys() == operators | {KERNEL, ANY, LAYOUT, NUMBER, VIEW}
    assert all(value > 0 for value in machine.launches.values())


@pytest.mark.parametrize("name", [*SMALL])
def test_small_instances_are_computed_by_their_operators(name: str) -> None:
    found = instance(name, SMALL[name])
    assert found.stage.operator == (None if name == KERNEL else name)
    assert all(
        tensor.shape == tuple(hi - lo for lo, hi in source.ranges)
        for source, tensor in found.buffers.items()
    )


def times(known: dict[int, float]) -> Callable[[Run, float], float]:
    """The seconds of each call by its number; 1e-5 for all others."""
    numbers = count()
    return lambda run, seconds: known.get(next(numbers), 1e-5)


FIRST = 6
"""The number of the time of the first launch."""


def test_a_call_and_a_launch() -> None:
    """The first two times are those of one operation and of four; then come a view, a layout and
    two times of a number, and the launches, the second one that of a stage with several calls."""
    time = times({0: 5e-5, 1: 8e-5, 2: 2e-5, FIRST: 5e-5, FIRST + 1: 9e-5})
    machine = measured(CPU, 1.0, TINY, time=time, clock=never).machine
    assert machine.call_seconds == pytest.approx(1e-5)
    assert machine.launches["elementwise"] == pytest.approx(5e-5)
    work = instance(KERNEL, SMALL[KERNEL]).work
    rest = (work.calls - 1) * 1e-5 + work.views * 2e-5
    assert machine.launches[KERNEL] == pytest.approx(9e-5 - rest)


def test_of_several_passes_the_least_time_counts() -> None:
    """The first pass has slow launches, and the second one a slow call.  A time that only one pass
    took, as no second one was left, counts as well."""
    every = count_of_times(TINY)
    slow = times({FIRST: 5e-5, FIRST + 1: 9e-5, every: 9e-5, every + 1: 9e-5})
    machine = measured(CPU, 1.0, TINY._replace(passes=2), time=slow, clock=never).machine
    assert machine == measured(CPU, 1.0, TINY, time=steady, clock=never).machine
    left = chain(repeat(0.0, every + 1), repeat(2.0)).__next__
    found = measured(CPU, 1.0, TINY._replace(passes=2), time=times({FIRST: 5e-5}), clock=left)
    assert found.missing == ()
    assert found.machine.launches["elementwise"] == pytest.approx(5e-5)


def count_of_times(grid: Grid) -> int:
    """The number of times that one pass takes."""
    taken = list[float]()

    def time(run: Run, seconds: float) -> float:
        taken.append(seconds)
        return 1e-5

    measured(CPU, 1.0, grid, time=time, clock=never)
    return len(taken)


def test_a_call_that_hardly_takes_longer_than_the_least_one_says_little_about_a_rate() -> None:
    ran = iter((1e-5, 1e-5, 1e-5, 5e-5))  # the floor, then the points
    probing = _Probing(CPU, 1.0, TINY, lambda run, seconds: next(ran), never)
    probing.begin("rates")
    found = probing._table(((1, 2, 4),), lambda size: (lambda: None, float(size)), inf)
    assert found.values == pytest.approx((1e5, 1e5, 1e5))


def test_a_rate_is_without_the_launch_only() -> None:
    """The least call of a table may do much work."""
    ran = iter((9e-5, 9e-5, 1e-4))  # the floor, then the points
    probing = _Probing(CPU, 1.0, TINY, lambda run, seconds: next(ran), never)
    probing.begin("rates")
    found = probing._table(((1, 2),), lambda size: (lambda: None, float(size)), 1e-5)
    assert found.values == pytest.approx((1 / 8e-5, 2 / 9e-5))


def test_a_miss_takes_what_a_column_takes_beyond_one_that_stays_in_the_cache() -> None:
    ran = iter((1008**2 * 1e-9, 1024**2 * 5e-9))
    probing = _Probing(CPU, 1.0, TINY, lambda run, seconds: next(ran), never)
    probing.begin("bandwidth")
    assert probing._miss() == pytest.approx(4e-9)


def test_without_time_everything_stays() -> None:
    found = measured(CPU, 1.0, TINY, time=steady, clock=count(0.0, 2.0).__next__)
    assert found.missing == ("call", "launches", "bandwidth", "rates", "functions")
    assert found.machine == CPU


def test_an_interruption_keeps_what_is_known() -> None:
    def time(run: Run, seconds: float) -> float:
        if next(numbers) == FIRST + 4:
            raise KeyboardInterrupt
        return 1e-5

    numbers = count()
    found = measured(CPU, 1.0, TINY, time=time, clock=never)
    assert found.interrupted
    measured_ones = found.machine.launches.items() - CPU.launches.items()
    assert len(measured_ones) == 4 + len((VIEW, LAYOUT, NUMBER, ANY))
    assert found.machine.rates == CPU.rates


def test_what_fails_is_named() -> None:
    def time(run: Run, seconds: float) -> float:
        if next(numbers) == FIRST + 1:
            raise RuntimeError("no such kernel")
        return 1e-5

    numbers = count()
    found = measured(CPU, 1.0, TINY, time=time, clock=never)
    assert found.missing == (f"launch of {[*SMALL][1]}",)
    assert not found.interrupted


def test_what_was_disturbed_is_named() -> None:
    found = measured(CPU, 1.0, TINY, time=times({FIRST + 1: 1.0}), clock=never)
    assert found.missing == (f"launch of {[*SMALL][1]} (disturbed)",)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def changed(**fields: Any) -> Machine:
    return from_data(to_data(CPU) | {"origin": "measured", **fields})


def test_a_profile_is_kept(folder: Path) -> None:
    before = profile_digest("cpu")
    assert profile_of("cpu") == CPU
    other = changed(call_seconds=1.0)
    assert keep(other)
    assert profile_of("cpu") == other
    assert profile_digest("cpu") != before
    assert profile_of("cuda:90") is MACHINES["cuda:90"]


@pytest.mark.parametrize("text", ["", "{}", '{"profile": {"name": "cpu"}}'])
def test_what_cannot_be_read_is_not_there(folder: Path, text: str) -> None:
    assert store().put(KIND, profile_key(), text)
    assert profile_of("cpu") == CPU


def test_nothing_is_kept_where_nothing_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert not keep(changed(call_seconds=1.0))
    assert profile_of("cpu") is CPU


@pytest.mark.parametrize("machine", MACHINES.values(), ids=lambda machine: machine.name)
def test_profiles_as_data(machine: Machine) -> None:
    assert from_data(to_data(machine)) == machine
    assert machine.origin in ("default", "published")


@pytest.mark.parametrize(
    "change",
    [
        {"bandwidth": {}},
        {"rates": {"matmul": {"axes": [], "values": [1.0]}}},
        {"rates": {"vector": {"axes": [[1.0, 2.0]], "values": [1.0]}}},
        {"rates": {"vector": {"axes": [[2.0, 1.0]], "values": [1.0, 1.0]}}},
        {"rates": {"vector": {"axes": [], "values": [0.0]}}},
        {"launches": {"matmul": -1.0}},
        {"call_seconds": float("nan")},
    ],
)
def test_no_profiles(change: dict[str, Any]) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        from_data(to_data(CPU) | change)


def test_tables_are_linear_on_logarithmic_scales() -> None:
    table = Table(((1.0, 4.0), (2.0, 8.0)), (1.0, 100.0, 16.0, 1600.0))
    assert table.at(1, 2) == 1.0
    assert table.at(1, 4) == pytest.approx(10.0)
    assert table.at(2, 2) == pytest.approx(4.0)
    assert table.at(2, 4) == pytest.approx(40.0)
    assert table.at(0.1, 99) == 100.0
    assert table.at(99, 99) == 1600.0
    assert constant(3.0).at() == 3.0


def test_seconds() -> None:
    machine = Machine(
        name="cpu",
        bandwidth={"dense": Table(((10.0, 1000.0),), (1.0, 100.0)), "gathered": constant(0.5)},
        rates={"vector": constant(1.0), "matmul": Table(((1.0, 4.0),), (2.0, 8.0))},
        call_seconds=0.5,
        fused=False,
        launches={"matmul": 7.0, ANY: 9.0},
        functions={"exp": 2.0, ANY: 3.0},
    )
    assert machine.seconds(Work(64.0, 0.0, unit="matmul", shape=(2,)), operator="matmul") == 23.0
    assert machine.seconds(Work(0.0, 200.0, calls=2), operator="other") == 9.5 + 20.0
    assert machine.seconds(Work(0.0, 10.0, access="gathered"), operator="other") == 29.0
    assert machine.seconds(Work(0.0, 0.0, 0, functions=(("exp", 2.0), ("log", 1.0)))) == 7.0
    assert machine.seconds(Work(0.0, 0.0, 0, bytes_copied=10.0)) == 10.0
    assert machine.seconds(Work(0.0, 0.0, 0, bytes_in_runs=1000.0)) == 10.0
    assert machine.seconds(Work(4.0, 10.0, 0, unit="window", utilisation=0.5), 8) == 16.0
    assert machine.seconds(Work(0.0, 0.0, 0)) == 0.0
